// Text of the page that a link from an e-mail opens.

export const LINK = {
  title: 'Confirm sign-in',
  text: 'This link signs you in to the account of your e-mail address. If there is no account yet, it creates one. It works once.',
  open: 'Confirm and continue',
  cancel: 'Not now',
  back: 'Back to sign-in',
} as const

export const INVITATION = {
  title: 'Accept invitation',
  text: 'This link makes you a member of the account that invited you, and signs you in. It works once.',
  open: 'Accept and open the account',
} as const

export const TRIAL_KEY = {
  title: 'Your trial key',
  account: 'Account: ',
  text: 'Copy the key now. You won’t be able to see it again, but your account can create other keys.',
  test: 'Send a test request:',
  open: 'Go to dashboard',
} as const
