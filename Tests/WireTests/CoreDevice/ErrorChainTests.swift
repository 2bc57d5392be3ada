import Testing
import Wire

enum ErrorSamples {
  /// What a locked phone answers to a launch.
  static let locked = ErrorChain(
    domain: "com.apple.dt.CoreDeviceError", code: 10002, description: "The application failed to launch.",
    underlying: [
      ErrorChain(
        domain: "FBSOpenApplicationServiceErrorDomain", code: 1,
        failureReason: "The request was denied by service delegate (SBMainWorkspace) for reason: Locked.",
        codeName: "RequestDenied",
        underlying: [
          ErrorChain(
            domain: "FBSOpenApplicationErrorDomain", code: 7,
            failureReason: "Unable to launch com.example.kiosk because the device was not, or could not be, unlocked.",
            codeName: "Locked")
        ])
    ])
}

@Suite struct `an error of a phone` {
  @Test func `is the same after the wire, with all that lies under it`() throws {
    let several = ErrorChain(
      domain: "a", code: -3, underlying: [ErrorSamples.locked, ErrorChain(domain: "b", code: 2)])

    for chain in [ErrorSamples.locked, several] {
      let read = try ErrorChain(wire: XPCValue(decoding: chain.wire.encoded))
      #expect(read == chain)
    }
  }

  @Test func `means what its deepest known code means`() {
    #expect(ErrorSamples.locked.deepestKnown == .locked)
    #expect(ErrorSamples.locked.underlying[0].underlying[0].deepestKnown == .locked)
    let shallow = ErrorChain(
      domain: "com.apple.dt.CoreDeviceError", code: 10002, underlying: [ErrorChain(domain: "NewDomain", code: 5)])
    #expect(shallow.deepestKnown == .launchFailed)
    let branches = ErrorChain(
      domain: "com.apple.dt.CoreDeviceError", code: 10002,
      underlying: [
        ErrorChain(domain: "FBSOpenApplicationServiceErrorDomain", code: 1),
        ErrorChain(
          domain: "X", code: 1, underlying: [ErrorChain(domain: "FBSOpenApplicationErrorDomain", code: 3)]),
      ])
    #expect(branches.deepestKnown == .untrusted)
    #expect(ErrorChain(domain: "FBSOpenApplicationErrorDomain", code: 99).deepestKnown == nil)
    #expect(ErrorChain(domain: "X", code: 1, codeName: "Locked").deepestKnown == .locked)
  }

  @Test func `keeps its plain part where the archive cannot be read`() throws {
    let wire: XPCValue = [
      "domain": "com.apple.dt.CoreDeviceError", "code": .int64(10002),
      "userInfo": ["NSLocalizedDescription": "The application failed to launch."],
      "userInfoWithNSSecureCoding": .data([1, 2, 3]),
    ]

    let chain = try ErrorChain(wire: wire)

    #expect(chain.description == "The application failed to launch.")
    #expect(chain.deepestKnown == .launchFailed)
  }

  @Test func `tells the phone's words, the innermost first`() {
    let words = ErrorSamples.locked.words

    #expect(words.hasPrefix("FBSOpenApplicationErrorDomain 7 Locked: Unable to launch"))
    #expect(words.hasSuffix("com.apple.dt.CoreDeviceError 10002: The application failed to launch."))
  }

  @Test func `without a domain or a code is none`() {
    #expect(throws: ShapeError("domain")) { try ErrorChain(wire: ["code": .int64(1)]) }
    #expect(throws: ShapeError("code")) { try ErrorChain(wire: ["domain": "x", "code": "1"]) }
  }
}
