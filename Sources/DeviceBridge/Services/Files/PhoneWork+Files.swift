import Wire

/// One entry of a folder on a phone.
public struct AppFile: Equatable, Sendable {
  public enum Kind: Sendable { case file, folder, link, other }
  public var name: String
  public var kind: Kind
  /// Bytes; 0 where the phone does not tell.
  public var size: Int
  /// Nanoseconds since 1970 on the phone's clock; nil where it does not tell.
  public var modified: Int64?

  public init(name: String, kind: Kind, size: Int, modified: Int64?) {
    self.name = name
    self.kind = kind
    self.size = size
    self.modified = modified
  }

  /// From the facts that the file service gives.
  init(name: String, _ facts: [String: String]) {
    kind =
      switch facts["st_ifmt"] {
      case "S_IFREG": .file
      case "S_IFDIR": .folder
      case "S_IFLNK": .link
      default: .other
      }
    self.name = name
    size = facts["st_size"].flatMap { Int($0) } ?? 0
    modified = facts["st_mtime"].flatMap { Int64($0) }
  }
}

extension PhoneWork {
  /// - Returns: nil when there is no such folder in the app's container.
  func files(in folder: String, of bundle: String) throws(PhoneError) -> [AppFile]? {
    let afc = try container(of: bundle)
    let root = "/" + folder.split(separator: "/").joined(separator: "/")
    guard let names = try afc.names(in: root) else { return nil }
    var files: [AppFile] = []
    for name in names.sorted() {
      // What has gone since is no longer there.
      guard let facts = try afc.facts(of: root == "/" ? "/\(name)" : "\(root)/\(name)") else { continue }
      files.append(AppFile(name: name, facts))
    }
    return files
  }

  /// The app's own folder tree, which the phone shows of development builds only.
  private func container(of bundle: String) throws(PhoneError) -> AFCClient {
    let step = "opening the container of \(PhoneText.clean(bundle))"
    let channel = try open("com.apple.mobile.house_arrest")
    try channel.send(["Command": "VendContainer", "Identifier": .string(bundle)])
    let reply = try channel.receivePlist()
    switch reply["Error"]?.string {
    case nil: break
    case "ApplicationLookupFailed": throw .launchRefused(udid, .notInstalled, detail: step)
    case "InstallationLookupFailed": throw .launchRefused(udid, .notDebuggable, detail: step)
    case let token?: throw .lockdown(udid, step: step, token: PhoneText.clean(token), code: 0)
    }
    guard reply["Status"]?.string == "Complete" else { throw .badReply(udid, step: step, detail: "no status") }
    return AFCClient(channel, udid)
  }
}
