import DeviceBridge
import Testing
import Wire

@testable import Fleet

@Suite struct `an error of the bridge as an outcome` {
  static let udid = UDID("00008110-000A1B2C3D4E5F60")
  static let mux = MuxAddress.system

  struct Row: CustomTestStringConvertible, Sendable {
    var error: PhoneError
    var kind: OutcomeKind
    var reason: OutcomeReason?
    var testDescription: String { "\(kind.rawValue)/\(reason?.rawValue ?? "")" }
  }

  static let rows =
    [
      Row(error: .noMux(mux), kind: .unreachable, reason: .noUsbmuxd),
      Row(error: .deadMux(mux), kind: .unreachable, reason: .noUsbmuxd),
      Row(error: .notASocket(mux), kind: .unreachable, reason: .noUsbmuxd),
      Row(error: .muxSilent(mux, detail: ""), kind: .unreachable, reason: .muxNotAnswering),
      Row(error: .muxForbidden(mux, detail: ""), kind: .hostFault, reason: .permission),
      Row(error: .host(code: 24, step: ""), kind: .hostFault, reason: .descriptors),
      Row(error: .absent(udid), kind: .unreachable, reason: .detached),
      Row(error: .networkOnly(udid), kind: .unreachable, reason: .detached),
      Row(error: .untrusted(udid, .stale), kind: .untrusted, reason: .stale),
      Row(error: .untrusted(udid, .untrusted), kind: .untrusted, reason: .noRecord),
      Row(error: .untrusted(udid, .lockedBeforeFirstUnlock), kind: .locked, reason: .beforeFirstUnlock),
      Row(error: .silent(udid, step: "", limit: .seconds(1)), kind: .unreachable, reason: .lockdownNotAnswering),
      Row(error: .tls(udid, detail: ""), kind: .hostFault, reason: .tls),
    ]
    + LaunchRefusal.allCases.map { refusal in
      switch refusal {
      case .locked: Row(error: launch(refusal), kind: .locked, reason: .passcode)
      case .appExited: Row(error: launch(refusal), kind: .launchedNoAnswer, reason: .appExited)
      case .notInstalled, .noDeveloperImage, .developerModeOff, .notDebuggable, .appUntrusted, .notOnThisIOS, .failed:
        Row(error: launch(refusal), kind: .launchRefused, reason: OutcomeReason(rawValue: refusal.rawValue))
      }
    }

  static func launch(_ refusal: LaunchRefusal) -> PhoneError { .launchRefused(udid, refusal, detail: "") }

  @Test(arguments: rows) func `has the watch's kind and one of that kind's reasons`(_ row: Row) throws {
    let words = try #require(OutcomeWords(row.error))

    #expect(words == OutcomeWords(row.kind, row.reason))
    let reason = try #require(words.reason)
    #expect((words.kind.reasons + words.kind.hostReasons).contains(reason))
  }

  @Test func `is none where it says nothing about phone or host`() {
    #expect(OutcomeWords(.ended(Self.udid)) == nil)
    #expect(OutcomeWords(.badRequest(detail: "")) == nil)
  }

  @Test(arguments: Trust.allCases) func `has a reason for every kind of trust`(_ trust: Trust) throws {
    let words = try #require(OutcomeWords(.untrusted(Self.udid, trust)))

    #expect(try words.kind.reasons.contains(#require(words.reason)))
  }
}
