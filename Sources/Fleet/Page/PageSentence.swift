import Wire

/// The page's own refusals, for people: what happened, the likely cause, what to do next.
enum PageSentence {
  static let badTarget = """
    This is no address of the page: it is no path, or holds what is not UTF-8, a wrong escape or a control character. \
    Something has put it together wrongly. \
    Begin at: /
    """
  static let tooManyStreams = """
    As many live pages are open as the supervisor serves at once. \
    Somebody has left them open, or a program asks for them. \
    Close some, or load this page again now and then.
    """
  static let tooSlow = """
    The answer took too long. \
    The record's disk or a phone does not answer in time. \
    Ask again, or see: fleetctl doctor
    """
  static let stopping = """
    The supervisor is being stopped. \
    Somebody has told it to end, or it is being updated. \
    Ask again when it runs.
    """
  static let notFound = """
    There is nothing at this address. \
    The page has /, /api/bodies, /api/bodies/NAME/ready, /api/outcomes, /metrics and /healthz. \
    Begin at: /
    """
  static let readOnly = """
    The page can only be read. \
    Nothing that it shows can be changed through it. \
    Use GET here, and fleetctl's commands for the rest: fleetctl help
    """
  static let noToken = """
    This page needs the token that supervise.token-file holds, and it was not sent, or another was. \
    It is sent as a bearer token, or as the password of any user. \
    Try: curl -u any:TOKEN ADDRESS
    """

  static let badRows = """
    This does not say which rows are meant. \
    after is a row's number, and limit a number from 1 to 1000; neither has to be there. \
    Try: /api/outcomes?after=0&limit=100
    """
  static let badWish = """
    This does not say which capture is meant. \
    for is photo or clip, and camera is a camera's name. \
    Try: /api/bodies/NAME/ready?for=photo&camera=front
    """

  static func noBody(_ name: String) -> String {
    """
    No body is called '\(name.oneLine(limit: 80))'. \
    Here a body is called by its whole name, or by its whole UDID. \
    See them at: /api/bodies
    """
  }

  static func host(_ name: String?) -> String {
    let named = name.map { "the name '\($0.oneLine(limit: 80))'" } ?? "a request without one Host header"
    return """
      This page does not answer to \(named). \
      A reverse proxy passes it on, or another page tries to read this one through your browser. \
      If the name is right, add it to supervise.hosts in fleet.yaml.
      """
  }
}
