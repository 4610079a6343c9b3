// One banner for all requests of a page that fail for the same reason, such as a gateway that does not respond. It
// retries them by itself, because a request can fail for a moment after the network is back.

import { useEffect, useRef } from 'preact/hooks'
import { type Backoff, backoffMs } from '../../core/backoff.ts'
import { isBannerShown, sharedFailures } from '../queries.dom.ts'
import { Button } from './frame.tsx'
import { PARTS } from './strings.ts'

const RETRY: Backoff = { firstMs: 2_000, capMs: 60_000, jitter: 0.5 }

const retryAll = () => {
  for (const { reload } of sharedFailures.peek()) reload()
}

export function FailureBanner() {
  useEffect(() => {
    isBannerShown.value = true
    addEventListener('online', retryAll)
    return () => {
      isBannerShown.value = false
      removeEventListener('online', retryAll)
    }
  }, [])
  const [first, ...others] = sharedFailures.value
  const attempts = useRef(0)
  useEffect(() => {
    if (first === undefined) {
      attempts.current = 0
      return
    }
    const timer = setTimeout(retryAll, backoffMs(RETRY, attempts.current++, Math.random()))
    return () => clearTimeout(timer)
  }, [first])
  if (first === undefined) return null
  const { message, requestId } = first.error
  return (
    <p class="note trouble banner" role="alert">
      <span>
        {message} {others.length > 0 && PARTS.partsMissing(others.length + 1)}{' '}
        {requestId && <small>({requestId})</small>}
      </span>
      <Button text={PARTS.retry} onClick={retryAll} />
    </p>
  )
}
