import Wire

/// One value that lockdownd knows by itself.
struct LockdownValue: Sendable {
  enum Access: Sendable {
    /// Also without a session.
    case open
    case session
    /// Without a session, but only by its name: it is in no dump.
    case named
  }

  typealias Read = @Sendable (_ phone: VirtualPhone, _ state: PhoneState) -> Plist?

  let key: String
  let access: Access
  let read: Read

  init(_ key: String, _ access: Access = .session, _ read: @escaping Read) {
    self.key = key
    self.access = access
    self.read = read
  }

  /// A value that is the same on every phone.
  init(_ key: String, _ access: Access = .session, always value: Plist) {
    self.init(key, access) { _, _ in value }
  }
}

/// A value's full name: the domain is empty for the root.
struct LockdownName: Hashable, Sendable {
  let domain: String
  let key: String
}

/// What somebody has put in place of a value.
enum LockdownOverride: Equatable, Sendable {
  case value(Plist)
  /// As if the phone had no such key.
  case absent
  /// The element's XML, letter for letter.
  case xml(String)
}
