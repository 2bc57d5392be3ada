import CPlist
import Wire

// libplist reads whatever a phone sends without a limit on depth or size. These stand in front of it for every caller
// in the process: what the guard refuses is never parsed, and the caller gets no tree.

/// The binary form, after a look at it.
@_cdecl("plist_from_bin")
public func guardedPlistFromBinary(
  _ bytes: UnsafePointer<CChar>?, _ count: UInt32, _ tree: UnsafeMutablePointer<plist_t?>?
) {
  read(nextBinary, bytes, count, tree)
}

/// The XML form, after a look at it.
@_cdecl("plist_from_xml")
public func guardedPlistFromXML(
  _ bytes: UnsafePointer<CChar>?, _ count: UInt32, _ tree: UnsafeMutablePointer<plist_t?>?
) {
  read(nextXML, bytes, count, tree)
}

private typealias Reading = @convention(c) (UnsafePointer<CChar>?, UInt32, UnsafeMutablePointer<plist_t?>?) -> Void
private let nextBinary = Next.function("plist_from_bin", as: Reading.self)
private let nextXML = Next.function("plist_from_xml", as: Reading.self)

private func read(
  _ next: Reading?, _ bytes: UnsafePointer<CChar>?, _ count: UInt32, _ tree: UnsafeMutablePointer<plist_t?>?
) {
  guard let tree else { return }
  tree.pointee = nil
  guard let bytes, PlistGuard.refusal(of: UnsafeRawBufferPointer(start: bytes, count: Int(count))) == nil, let next
  else { return }
  next(bytes, count, tree)
  if let context = LaneContext.current, let root = tree.pointee { context.token = token(in: root) ?? context.token }
}

/// The phone's word for its refusal, where this is one.
private func token(in root: plist_t) -> String? {
  guard plist_get_node_type(root) == PLIST_DICT, let error = plist_dict_get_item(root, "Error"),
    plist_get_node_type(error) == PLIST_STRING
  else { return nil }
  return Plist(copying: error).string
}
