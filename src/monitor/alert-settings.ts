// Variables and the secret of alerts, which belong to the live Worker.

import * as z from 'zod'
import { EgressSettings } from '../core/egress.ts'
import { WebhookUrl } from '../metering/webhooks/webhook.ts'

export const AlertSettings = EgressSettings.extend({
  /** Receiver of alerts. Empty: none. */
  ALERT_URL: z.union([z.literal(''), WebhookUrl], 'must be a URL such as https://example.com/hooks/weir, or empty'),
})

/** Secret of alerts, in the form of Standard Webhooks, with at least 24 bytes. */
export const ALERT_SECRET = /^whsec_[A-Za-z0-9+/]{32,}={0,2}$/

export interface AlertEnv {
  readonly ALERT_SECRET?: string
}
