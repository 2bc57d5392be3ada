import Wire

/// How the services answer where phones differ, and how they are made to answer wrongly.
struct ServiceRules: Sendable {
  var mount = Mounting()
  var screenshot = Screenshots()
  var remote = RemoteRules()
  /// What Install answers instead of installing.
  var installFault: InstallFault?
  /// What the host has set the phone's clock to, as seconds ahead of the real one.
  var clockOffset = 0.0

  struct Mounting: Sendable {
    /// What MountImage answers instead of mounting.
    enum Reply: String, CaseIterable, Sendable {
      /// `ImageMountFailed`, and no status.
      case failed
      /// A dictionary with neither status nor error.
      case empty
      /// `InternalError`.
      case error
      /// The host waits for ever.
      case silent
      /// The connection ends.
      case close
    }

    /// How LookupImage says that an image is mounted.
    enum Lookup: String, CaseIterable, Sendable {
      /// An array of signatures, as of today.
      case array
      /// One signature.
      case single
      /// `ImagePresent`, as very old phones do.
      case present
      /// An array without any, although an image is mounted.
      ///
      /// - Source: seen on 27.0 by pymobiledevice3's authors.
      case unsigned
    }

    var reply: Reply?
    /// In place of the reply's own `DetailedError`.
    var detail: String?
    var lookup = Lookup.array
    /// The signature of the image that the host has mounted; nil for one that was there before.
    var signature: [UInt8]?
  }

  struct Screenshots: Sendable {
    enum Format: String, CaseIterable, Sendable { case png, tiff }
    enum Fault: String, CaseIterable, Sendable { case silent, close, refused, empty, garbage, cut }

    var format = Format.png
    /// So many times fewer pixels each way.
    var scale = 1
    var fault: Fault?
  }

  enum InstallFault: Equatable, Sendable {
    /// This error, after some progress.
    case refused(error: String, description: String)
    /// Progress up to the middle, and then nothing.
    case hangs
    /// Progress up to the middle, and the connection ends.
    case lost
  }
}
