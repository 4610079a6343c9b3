// Text of the sign-in page.

export const SIGN_IN = {
  title: 'Sign in',
  keyTitle: 'Use a key',
  key: 'API key, service key or operator token',
  submit: 'Sign in',
  help: 'A service key (cqs_…) manages the account; an API key (cqt_…) shows usage. We never store your key in the browser.',
  noKey: 'No key yet? Ask your administrator for a key:',
} as const

export const SIGN_UP = {
  text: 'New here? The same link starts a free trial.',
  email: 'Work e-mail',
  emailHint: 'We’ll send you a sign-in link.',
  submit: 'E-mail me a sign-in link',
  logged: ' This gateway sends no mail. Its log has the link in the last line that contains ',
  logFile: '. With ',
  logFileIn: ', the log file is ',
  turnstile: 'The anti-bot check could not be loaded. Allow challenges.cloudflare.com and try again.',
} as const
