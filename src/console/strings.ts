// Text of the sign-in page, the sign-up link page and the frame of the console.

export const CONSOLE = {
  loadFailed: 'Part of this page could not be loaded. A new version may have been deployed. ',
  reload: 'Reload the page',
  signOut: 'Sign out',
} as const

export const SIGN_IN = {
  title: 'Sign in',
  key: 'API key, service key or operator token',
  submit: 'Sign in',
  help: 'A service key (cqs_…) manages the account: keys, webhook and invoices. An API key (cqt_…) shows its own usage and that of its account. We never store your key in the browser.',
  noKey: 'No key yet? Ask your administrator for a key:',
} as const

export const SIGN_UP = {
  title: 'Start a free trial',
  email: 'Work e-mail. We’ll send you a sign-in link.',
  submit: 'E-mail me a sign-in link',
  logged: ' This gateway sends no mail. Its log has the link in the last line that contains ',
  logFile: '. With ',
  logFileIn: ', the log file is ',
  turnstile: 'The anti-bot check could not be loaded. Allow challenges.cloudflare.com and try again.',
} as const

export const LINK = {
  title: 'Confirm sign-in',
  text: 'This link signs you in to the account of your e-mail address. If there is no account yet, it creates one. It works once.',
  open: 'Go to dashboard',
  cancel: 'Not now',
  back: 'Back to sign-in',
} as const

export const TRIAL_KEY = {
  title: 'Your trial key',
  account: 'Account: ',
  text: 'Copy the key now. You won’t be able to see it again, but your account can create other keys.',
  test: 'Send a test request:',
  open: 'Go to dashboard',
} as const
