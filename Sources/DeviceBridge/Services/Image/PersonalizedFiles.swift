import Wire

/// The unpacked personalised image as it is for one phone: what BuildManifest.plist names.
struct PersonalizedFiles {
  let identity: BuildIdentity
  let image: String
  let trustCache: String

  /// - Parameter folder: the one of all images; this one lies under `personalized` in it.
  init(in folder: ImageFolder, for phone: PersonalizationIdentifiers) throws(ImageFolderError) {
    let folder = folder.path + "/personalized"
    guard let manifest = Self.manifest(folder + "/BuildManifest.plist") else { throw .noPersonalizedImage(folder) }
    guard let identity = manifest.identity(for: phone) else {
      throw .notForThisPhone(folder, board: phone.boardID, chip: phone.chipID)
    }
    self.identity = identity
    image = try Self.file("PersonalizedDMG", identity, folder, "Image.dmg")
    trustCache = try Self.file("LoadableTrustCache", identity, folder, "Image.trustcache", "Image.dmg.trustcache")
  }

  private static func manifest(_ path: String) -> BuildManifest? {
    // Apple's has some hundred kilobytes.
    guard let bytes = try? LocalFile(path).whole(limit: 16 << 20), let plist = try? Plist(parsing: bytes) else {
      return nil
    }
    return try? BuildManifest(plist)
  }

  /// By the manifest's own name for it, else by those that people give it who unpack an image.
  private static func file(
    _ part: String, _ identity: BuildIdentity, _ folder: String, _ usual: String...
  ) throws(ImageFolderError) -> String {
    var names = usual
    // A name that leads out of the folder is none.
    if let named = identity.path(of: part), !named.hasPrefix("/"), !named.split(separator: "/").contains("..") {
      names.insert(named, at: 0)
    }
    guard let name = names.first(where: { ImageFolder.isFile("\(folder)/\($0)") }) else {
      throw .missing("\(folder)/\(names[0])")
    }
    return "\(folder)/\(name)"
  }
}
