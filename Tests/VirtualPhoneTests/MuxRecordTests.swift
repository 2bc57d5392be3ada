import Testing
import Wire

@testable import VirtualPhone

@Suite struct `the mux's pair records` {
  private func result(_ test: TestFleet, _ request: Plist) throws -> Int? { try test.mux().result(request) }

  @Test func `are complete for every phone from the start`() throws {
    let test = try TestFleet(phones: 2)
    let buid = try test.mux().ask(["MessageType": "ReadBUID"])["BUID"]

    let records = try test.fleet.phones.map { try test.record($0) }

    for (record, phone) in zip(records, test.fleet.phones) {
      for key in ["RootCertificate", "HostCertificate", "DeviceCertificate", "RootPrivateKey", "HostPrivateKey"] {
        #expect(record[key]?.bytes?.starts(with: Array("-----BEGIN ".utf8)) == true)
      }
      #expect(record["EscrowBag"]?.bytes?.count == 32)
      #expect(record["SystemBUID"] == buid)
      #expect(record["WiFiMACAddress"]?.string == phone.identity.wifiAddress)
    }
    #expect(records[0]["HostID"] != records[1]["HostID"])
    #expect(records[0]["EscrowBag"] != records[1]["EscrowBag"])
  }

  @Test func `are none when the fleet starts untrusted`() throws {
    let test = try TestFleet(trusted: false)
    let id = Plist.string(test.first.udid.description)

    #expect(try result(test, ["MessageType": "ReadPairRecord", "PairRecordID": id]) == 2)
    #expect(try test.lockdown().error("StartSession", ["HostID": "NOBODY"]) == "InvalidHostID")
  }

  @Test func `are stored letter for letter, read as XML whatever they came as, and deleted`() throws {
    let test = try TestFleet()
    let record: Plist = ["HostID": "A", "EscrowBag": .data([1, 2, 3])]
    let save: Plist = [
      "MessageType": "SavePairRecord", "PairRecordID": "Some-Id", "PairRecordData": .data(record.binary),
    ]
    let read: Plist = ["MessageType": "ReadPairRecord", "PairRecordID": "Some-Id"]

    #expect(try result(test, save) == 0)
    let bytes = try #require(try test.mux().ask(read)["PairRecordData"]?.bytes)
    #expect(bytes.starts(with: Array("<?xml".utf8)))
    #expect(try Plist(parsing: bytes) == record)
    #expect(try result(test, ["MessageType": "ReadPairRecord", "PairRecordID": "some-id"]) == 2)
    #expect(try result(test, ["MessageType": "DeletePairRecord", "PairRecordID": "Some-Id"]) == 0)
    #expect(try result(test, read) == 2)
  }

  @Test(
    arguments: [
      ["MessageType": "ReadPairRecord"],
      ["MessageType": "DeletePairRecord"],
      ["MessageType": "SavePairRecord", "PairRecordID": "A"],
      ["MessageType": "SavePairRecord", "PairRecordID": "A", "PairRecordData": "text"],
      ["MessageType": "SavePairRecord", "PairRecordID": "A", "PairRecordData": .data([1, 2, 3])],
      ["MessageType": "SavePairRecord", "PairRecordID": "", "PairRecordData": .data(Plist.dictionary(["A": 1]).xml)],
    ] as [Plist])
  func `refuse what is no record with 22`(request: Plist) throws {
    #expect(try result(TestFleet(), request) == 22)
  }

  @Test func `do not grow without end`() throws {
    let records = PairRecords()
    let record = Plist.dictionary(["HostID": "A"]).xml
    for index in 0..<PairRecords.limit { try records.save(record, as: "\(index)") }

    #expect(throws: PairRecords.Refusal(number: 28)) { try records.save(record, as: "one more") }
    try records.save(record, as: "0")
  }

  @Test func `H22: and keys never reach the journal`() throws {
    let test = try TestFleet()
    let record = try test.record()
    try test.session().startService("com.apple.nothing")
    _ = try test.mux().result([
      "MessageType": "SavePairRecord", "PairRecordID": "A", "PairRecordData": .data(record.xml),
    ])

    let text = test.fleet.journal.entries().map(\.json.line).joined()

    #expect(!text.isEmpty)
    #expect(!text.contains("PRIVATE") && !text.contains("CERTIFICATE"))
    for key in ["HostID", "SystemBUID"] {
      #expect(!text.contains(try #require(record[key]?.string)))
    }
  }
}

extension LockdownHost {
  @discardableResult
  func startService(_ name: String) throws -> Plist { try ask("StartService", ["Service": .string(name)]) }
}
