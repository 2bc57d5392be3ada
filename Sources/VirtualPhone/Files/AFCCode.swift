/// What AFC answers to a request, by its number on the wire.
///
/// - Source: com.apple.afc as libimobiledevice 1.3.0 knows it; the names are those of libimobiledevice's AFC_E_ constants.
enum AFCCode: UInt64, Error, CaseIterable, Sendable {
  case success = 0
  /// Also what a folder that is not empty answers to its removal.
  case unknownError = 1
  case headerInvalid = 2
  case noResources = 3
  case readError = 4
  case writeError = 5
  case unknownPacket = 6
  case invalidArgument = 7
  case objectNotFound = 8
  case objectIsFolder = 9
  case permissionDenied = 10
  case tooMuchData = 13
  case notSupported = 15
  case objectExists = 16
  case objectBusy = 17
  case noSpaceLeft = 18
}
