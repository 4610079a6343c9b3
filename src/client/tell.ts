// Calls what users of the package give it. Law: what theirs throws reaches them, and nothing of ours stands half done for it.

export function tell<Event>(listener: (event: Event) => void, event: Event): void {
  try {
    listener(event)
  } catch (error) {
    // Unhandled on purpose: the platform reports it.
    void Promise.reject(error)
  }
}
