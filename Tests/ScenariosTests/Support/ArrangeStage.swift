import DeviceBridge
import Fleet
import Transport

@testable import Scenarios

let background = """
    - arrange: in-background
    - request: POST /photo?camera=front
      expect: {status: 409}
  """
let photoAgain = "  - request: POST /photo?camera=front\n    expect: {status: 200}"

/// A stage whose lab brings the phone into these states by commands called `lock`, `unlock`, `front` and `back`.
func arrangeStage(_ phone: FakePhone, _ states: [BodyState: String] = [:]) -> Stage {
  var stage = Stage()
  stage.lab = FakeLab { command in
    phone.state.with {
      switch command.argv[0] {
      case "lock": $0.lock = .locked
      case "unlock": $0.lock = .unlocked
      case "front": $0.active = true
      case "back": $0.active = false
      default: break
      }
    }
    return .exited(0)
  }
  stage.configuration.arrange = states.mapValues { ArrangeMeans(command: [$0]) }
  return stage
}
