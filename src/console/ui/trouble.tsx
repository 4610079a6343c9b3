// Why something is not there, said once and aloud.

import type { Trouble } from '../ask.dom.ts'

export function TroubleNote({ trouble, again }: { trouble: Trouble | null; again?: () => void }) {
  if (trouble === null) return null
  return (
    <p class="note trouble" role="alert">
      {trouble.message} {trouble.requestId && <small>({trouble.requestId})</small>}{' '}
      {again && (
        <button type="button" onClick={again}>
          Try again
        </button>
      )}
    </p>
  )
}
