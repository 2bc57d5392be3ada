import FoundationEssentials
import Testing
import Wire

@Suite struct `a request to sign an image` {
  private let phone = PersonalizationIdentifiers(
    boardID: 0x0E, chipID: 0x8110, others: ["Ap,OSLongVersion": "21.6.79.0.0,0", "Ap,Timestamp": 7])

  private func manifest() throws -> BuildManifest {
    try BuildManifest([
      "BuildIdentities": [
        ["ApBoardID": "0x0C", "ApChipID": "0x8110", "Manifest": [:]], ["ApBoardID": "nonsense"],
        [
          "ApBoardID": "0x0E", "ApChipID": "0x8110",
          "Manifest": [
            "PersonalizedDMG": ["Digest": .data([1]), "Trusted": true, "Info": ["Path": "Image.dmg"]],
            "LoadableTrustCache": [
              "Trusted": true,
              "Info": [
                "Path": "Image.trustcache",
                "RestoreRequestRules": [
                  ["Conditions": ["ApRequiresImage4": true, "ApRawProductionMode": true], "Actions": ["EPRO": true]],
                  ["Conditions": ["ApRawSecurityMode": true], "Actions": ["ESEC": true, "Digest": 255]],
                  ["Conditions": ["ApCurrentProductionMode": false], "Actions": ["EPRO": false]],
                  ["Conditions": ["ApInRomDFU": true], "Actions": ["EPRO": false]],
                ],
              ],
            ],
            "Untrusted": ["Trusted": false, "Info": [:]], "Loose": ["Trusted": true],
          ],
        ],
      ]
    ])
  }

  @Test func `takes the identity of the phone's chip and board`() throws {
    let identity = try #require(try manifest().identity(for: phone))

    #expect(identity.path(of: "PersonalizedDMG") == "Image.dmg")
    #expect(identity.path(of: "LoadableTrustCache") == "Image.trustcache")
    var other = phone
    other.chipID = 0x8150
    #expect(try manifest().identity(for: other) == nil)
    #expect(try manifest().identities.count == 2)
  }

  @Test func `holds the phone's facts and the image's trusted parts`() throws {
    let identity = try #require(try manifest().identity(for: phone))
    let request = SigningRequest(identity: identity, phone: phone, ecid: 0xA1B2_C3D4_E5F6, nonce: [9, 9])

    let plist = try Plist(parsing: request.bytes)

    #expect(plist["ApBoardID"] == 0x0E && plist["ApChipID"] == 0x8110 && plist["ApECID"]?.int == 0xA1B2_C3D4_E5F6)
    #expect(plist["ApNonce"] == .data([9, 9]) && plist["SepNonce"]?.bytes?.count == 20)
    #expect(plist["Ap,OSLongVersion"] == "21.6.79.0.0,0" && plist["UID_MODE"] == false)
    #expect(plist["PersonalizedDMG"] == ["Digest": .data([1]), "Trusted": true, "EPRO": true, "ESEC": true])
    #expect(plist["LoadableTrustCache"] == ["Digest": .data([]), "Trusted": true, "EPRO": true, "ESEC": true])
    #expect(plist["Untrusted"] == nil && plist["Loose"] == nil)
    #expect(plist["@UUID"]?.string == request.uuid.uuidString)
  }

  @Test func `reads what the phone says of itself`() throws {
    #expect(try PersonalizationIdentifiers(phone.plist) == phone)
    #expect(throws: ShapeError("ChipID")) { try PersonalizationIdentifiers(["BoardId": 1]) }
    #expect(throws: ShapeError("BoardId")) { try PersonalizationIdentifiers(["BoardId": -1, "ChipID": 2]) }
  }

  @Test func `is answered by a ticket or by a refusal`() throws {
    let ticket = SigningReply.ticket([1, 2, 3])
    let refusal = SigningReply.refused(status: 94, message: "This device isn't eligible for the requested build.")

    #expect(try SigningReply(ticket.bytes) == ticket)
    #expect(try SigningReply(refusal.bytes) == refusal)
  }

  @Test(arguments: [
    ("", "STATUS"), ("<html>", "STATUS"), ("STATUS=0&MESSAGE=SUCCESS", "REQUEST_STRING"),
    ("STATUS=0&REQUEST_STRING=nonsense", "REQUEST_STRING"),
    ("STATUS=0&REQUEST_STRING=<plist><dict/></plist>", "ApImg4Ticket"),
  ])
  func `is answered by nothing sensible`(_ text: String, _ key: String) {
    #expect(throws: ShapeError(key)) { try SigningReply(Array(text.utf8)) }
  }
}
