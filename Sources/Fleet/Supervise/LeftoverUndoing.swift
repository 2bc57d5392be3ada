import DeviceBridge
import Wire

/// Takes back what runs that were killed have left arranged on phones. The rooms above know how; a supervisor only knows
/// that it comes before everything else.
public protocol LeftoverUndoing: Sendable {
  /// A look at the state folder, which touches no phone and takes no time.
  func hasLeftovers(of udid: UDID) -> Bool
  /// Takes everything back; whoever calls it holds the phone.
  ///
  /// - Parameter notice: told of each thing that is undone, in a sentence.
  /// - Returns: what still stands in the way, in a sentence; nil when nothing is left.
  func undo(_ body: Body, over lane: PhoneLane, notice: @escaping @Sendable (String) -> Void) async -> String?
}
