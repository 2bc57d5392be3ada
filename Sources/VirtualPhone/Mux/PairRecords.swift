import Glibc
import Transport
import Wire

/// The pair records that the mux keeps for its hosts, by the identifier they were stored under, letter for letter.
///
/// In memory only. They hold private keys: their contents are never shown or logged.
final class PairRecords: Sendable {
  /// The real daemon's answer to a failure is errno, in a Result.
  struct Refusal: Error, Equatable {
    let number: Int32
  }

  static let limit = 1024
  private static let longestID = 256
  private let records = Guarded([String: [UInt8]]())

  /// - Returns: a property list's bytes (XML).
  func read(_ id: String?) throws(Refusal) -> [UInt8] {
    guard let id else { throw Refusal(number: EINVAL) }
    guard let record = records.with({ $0[id] }) else { throw Refusal(number: ENOENT) }
    return record
  }

  /// - Parameter record: XML or binary; kept as XML, as the daemon writes it to its disk.
  func save(_ record: [UInt8]?, as id: String?) throws(Refusal) {
    guard let id, !id.isEmpty, id.utf8.count <= Self.longestID, let record else { throw Refusal(number: EINVAL) }
    let xml: [UInt8]
    do throws(PlistError) {
      let plist = try Plist(parsing: record)
      guard let entries = plist.dictionary, !entries.isEmpty else { throw PlistError.malformed }
      xml = plist.xml
    } catch {
      throw Refusal(number: EINVAL)
    }
    let isFull = records.with {
      if $0[id] == nil, $0.count >= Self.limit { return true }
      $0[id] = xml
      return false
    }
    if isFull { throw Refusal(number: ENOSPC) }
  }

  func delete(_ id: String?) throws(Refusal) {
    guard let id else { throw Refusal(number: EINVAL) }
    guard records.with({ $0.removeValue(forKey: id) }) != nil else { throw Refusal(number: ENOENT) }
  }

  /// Forgets the phone's record under all its spellings.
  func forget(_ udid: UDID) {
    records.with { records in
      for id in records.keys where UDID(id) == udid { records[id] = nil }
    }
  }

  /// Stores under a second spelling what is stored under the phone's own.
  func copy(_ udid: UDID, to spelling: String) {
    records.with { if let record = $0[udid.description] { $0[spelling] = record } }
  }

  /// Forgets the phone's record under every spelling but its own.
  func keepOnlyOwnSpelling(of udid: UDID) {
    records.with { records in
      for id in records.keys where id != udid.description && UDID(id) == udid { records[id] = nil }
    }
  }
}
