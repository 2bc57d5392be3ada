import DeviceBridge
import Transport
import VirtualPhone
import Wire

extension PhoneLane {
  /// What a launch ended as; nil when it was accepted.
  func ending(of request: LaunchRequest, by deadline: Deadline = .patient) async -> PhoneError? {
    do throws(PhoneError) {
      try await launch(request, by: deadline)
      return nil
    } catch {
      return error
    }
  }
}

extension PhoneError {
  var refusal: LaunchRefusal? { if case .launchRefused(_, let refusal, _) = self { refusal } else { nil } }
  var detail: String? { if case .launchRefused(_, _, let detail) = self { detail } else { nil } }
}

extension Bench {
  /// The features that CoreDevice services were called for, in order.
  var calls: [String] {
    fleet.journal.entries().filter { $0.event == "coredevice-call" }.compactMap {
      $0.details["feature"]?.string?.split(separator: ".").last.map(String.init)
    }
  }
}
