/// What can be made to happen to the kiosk app, its camera and its door.
enum AppActions {
  static let all: [PhoneAction] = []
}
