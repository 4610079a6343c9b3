// One banner for all requests of a page that fail for the same reason, such as a gateway that does not respond.

import { useEffect } from 'preact/hooks'
import { isBannerShown, sharedFailures } from '../queries.dom.ts'
import { Button } from './frame.tsx'
import { PARTS } from './strings.ts'

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
