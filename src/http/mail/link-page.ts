// Text of the pages behind the links in e-mails about alerts.

import type { AccountId } from '../../core/ids.ts'

const PAGES = {
  confirm: {
    title: 'Confirm alerts',
    text: 'Send alerts of the account ACCOUNT to your address?',
    button: 'Confirm',
  },
  confirmed: { title: 'Confirmed', text: 'Your address now gets the alerts of the account ACCOUNT.', button: null },
  unsubscribe: {
    title: 'Unsubscribe',
    text: 'Stop all alerts of the account ACCOUNT to your address?',
    button: 'Unsubscribe',
  },
  unsubscribed: {
    title: 'Unsubscribed',
    text: 'Your address gets no more alerts of the account ACCOUNT.',
    button: null,
  },
  unusable: {
    title: 'This link doesn’t work',
    text: 'It was used, replaced or has expired. The owner of the account can send a new one.',
    button: null,
  },
  often: { title: 'Too many attempts', text: 'Wait a minute, then open the link again.', button: null },
} as const

export type LinkPage = keyof typeof PAGES

/**
 * Parts of the page `src/console/alert-link.html`. Its button sends the same address again. `account`: a valid account
 * name; empty: the link is not valid.
 */
export function linkParts(name: LinkPage, account: AccountId): Readonly<Record<'title' | 'text' | 'button', string>> {
  const { title, text, button } = PAGES[name]
  return { title, text: text.replace('ACCOUNT', account), button: button ?? '' }
}
