// The search field of the operator pages. Invariant: only the prefix of a searched key appears in the URL.

import { DISPLAY_LENGTH } from '../../accounts/format.ts'
import { navigate, pageUrl } from '../address.dom.ts'
import * as strings from './strings.ts'

const shortenKeys = (text: string): string =>
  text.trim().replace(/\bcq[tso]_\w+/g, (key) => key.slice(0, DISPLAY_LENGTH))

/** The search field in the top bar of every operator page. */
export function SearchField() {
  const submit = (event: Event) => {
    event.preventDefault()
    const form = event.currentTarget as HTMLFormElement
    const q = shortenKeys(String(new FormData(form).get('q') ?? ''))
    if (q !== '') navigate(pageUrl('search', { q }))
    form.reset()
  }
  return (
    <form class="search" onSubmit={submit}>
      <input
        name="q"
        type="search"
        aria-label={strings.searchLabel}
        placeholder={strings.searchPlaceholder}
        autocomplete="off"
        maxLength={100}
      />
    </form>
  )
}
