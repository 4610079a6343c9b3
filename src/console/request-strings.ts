// Text of failed requests and ended sessions. It is separate from the other text because the live page loads nothing else.

export const REQUEST = {
  unreachable: 'The gateway did not respond. It may be restarting; try again in a moment.',
  offline: 'This device is offline. Reconnect and try again.',
  status: (status: number) => `The gateway responded with status ${status}.`,
  signedOut: 'You are signed out.',
} as const
