import Transport

/// The file of a clip under way, in the app's container: its size is known, its bytes exist nowhere.
extension KioskApp {
  /// What a second of film takes on the phone.
  private static let bytesPerSecond = 1_600_000.0

  func writeClip(_ file: String, seconds: Double, in model: AppModel) {
    let size = Int(seconds * Self.bytesPerSecond)
    model.containers[settings.bundle]?.with { try? $0.put(file, [], hollow: size) }
  }

  func hasClip(_ file: String, in model: AppModel) -> Bool {
    model.containers[settings.bundle]?.with { tree in
      tree.files(in: "/tmp").keys.contains { "tmp/\($0)" == file }
    } ?? false
  }

  func removeClip(_ file: String, in model: AppModel) {
    model.containers[settings.bundle]?.with { try? $0.remove(file) }
  }

  func removeClips(in model: AppModel) {
    model.containers[settings.bundle]?.with { tree in
      for name in tree.files(in: "/tmp").keys where name.hasPrefix("clip-") { try? tree.remove("/tmp/\(name)") }
    }
  }

  /// A name in UUID form, made of the moment at which the recording begins.
  static func clipName(_ moment: Duration) -> String {
    InstalledApp.folderName(for: "clip \(moment)").lowercased()
  }
}
