// Signature version 4 of a GET to S3 (docs.aws.amazon.com, "Signature Calculations for the Authorization Header").

import { createHash, createHmac } from 'node:crypto'

export interface AwsKeys {
  readonly id: string
  readonly secret: string
  /** Of keys that expire. */
  readonly session: string | undefined
}

const EMPTY = sha256('')

/** All headers of the request, with these of its own; `now`: Unix ms. */
export function signedHeaders(
  url: URL,
  own: Readonly<Record<string, string>>,
  { id, secret, session }: AwsKeys,
  region: string,
  now: number,
): Record<string, string> {
  const stamp = new Date(now).toISOString().replaceAll(/[-:]|\.\d+/g, '')
  const day = stamp.slice(0, 8)
  const headers: Record<string, string> = {
    ...own,
    host: url.host,
    'x-amz-content-sha256': EMPTY,
    'x-amz-date': stamp,
    ...(session === undefined ? {} : { 'x-amz-security-token': session }),
  }
  const names = Object.keys(headers).sort()
  const query = [...url.searchParams].map(([name, value]) => `${encoded(name)}=${encoded(value)}`).sort()
  const request = [
    'GET',
    url.pathname,
    query.join('&'),
    ...names.map((name) => `${name}:${headers[name]!.trim()}`),
    '',
    names.join(';'),
    EMPTY,
  ]
  const scope = `${day}/${region}/s3/aws4_request`
  const text = ['AWS4-HMAC-SHA256', stamp, scope, sha256(request.join('\n'))].join('\n')
  const key = [day, region, 's3', 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${secret}`)
  const signature = hmac(key, text).toString('hex')
  const { host: _, ...sent } = headers
  return {
    ...sent,
    authorization: `AWS4-HMAC-SHA256 Credential=${id}/${scope},SignedHeaders=${names.join(';')},Signature=${signature}`,
  }
}

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** As S3 has it: all but letters, digits and four others. */
function encoded(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`)
}
