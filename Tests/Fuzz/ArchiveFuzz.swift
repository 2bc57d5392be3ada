/// libFuzzer target: the archive of an error, and what the signing service may answer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzArchive(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  if let value = try? KeyedArchive.decode(bytes) {
    do {
      _ = try KeyedArchive.decode(KeyedArchive.encode(value))
    } catch ArchiveError.tooDeep, ArchiveError.tooManyObjects {
      // Values that stood in a field are objects of their own now, and count.
    } catch {
      fuzzFailure("written again")
    }
    if let chain = ErrorChain(value) { _ = (chain.deepestKnown, chain.words) }
  }
  _ = try? SigningReply(bytes)
  if let plist = try? Plist(parsing: bytes) {
    _ = try? BuildManifest(plist)
    if let phone = try? PersonalizationIdentifiers(plist),
      (try? PersonalizationIdentifiers(phone.plist)) != phone
    {
      fuzzFailure("identifiers")
    }
  }
  return 0
}
