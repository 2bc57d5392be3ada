import Transport
import Wire

/// What the C library may do with pair records while a person has asked for it, and what it did.
///
/// Without one, saving and deleting are refused: no look at a phone ever changes a record.
final class PairingDesk: Sendable {
  enum Permission: Sendable { case save, delete }

  let permission: Permission
  /// This host's name towards phones.
  let buid: String
  private let mux: Mux
  private let phone: ListedPhone
  /// Under which the record is kept.
  private let id: String
  private let deadline: Deadline
  private let outcome = Guarded<Result<Void, PhoneError>?>(nil)

  init(_ permission: Permission, buid: String, mux: Mux, phone: ListedPhone, id: String, by deadline: Deadline) {
    self.permission = permission
    self.buid = buid
    self.mux = mux
    self.phone = phone
    self.id = id
    self.deadline = deadline
  }

  /// - Throws: why the record was not written, which the library drops; also when it did not try.
  func check(_ step: String) throws(PhoneError) {
    guard let outcome = outcome.with({ $0 }) else {
      throw .badReply(phone.udid, step: step, detail: "no pair record came of it")
    }
    try outcome.get()
  }

  /// - Returns: whether the daemon has the record now.
  func save(_ record: [UInt8]) -> Bool {
    guard permission == .save else { return false }
    return note { () throws(PhoneError) in
      guard let plist = try? Plist(parsing: record), PairRecord.isWhole(plist) else {
        throw .badReply(phone.udid, step: "making a pair record", detail: "the record is damaged")
      }
      try mux.savePairRecord(id, record, of: phone, by: deadline)
    }
  }

  /// - Returns: whether the daemon has no record any more.
  func delete() -> Bool {
    guard permission == .delete else { return false }
    return note { () throws(PhoneError) in _ = try mux.deletePairRecords(PairRecord.spellings(of: phone), by: deadline)
    }
  }

  private func note(_ work: () throws(PhoneError) -> Void) -> Bool {
    let result: Result<Void, PhoneError>
    do throws(PhoneError) {
      try work()
      result = .success(())
    } catch {
      result = .failure(error)
    }
    outcome.with { $0 = result }
    if case .success = result { return true }
    return false
  }
}
