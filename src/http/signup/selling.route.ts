// Routes of a gateway that sells credits: the payment provider's webhook and sign-up. Invariant: a feature that is off
// or lacks its secret has no routes.

import { Hono } from 'hono'
import { AddressLimiter, SIGN_UPS } from '../../accounts/address-limiter.ts'
import type { CheckoutEnv } from '../../billing/checkout/checkout-service.client.ts'
import { stripeRoutes } from '../../billing/checkout/stripe/stripe.route.ts'
import { logEvent } from '../../core/log.client.ts'
import type { Platform } from '../platform/platform-api.ts'
import { httpMailer, logMailer, type Mailer } from './mailer.client.ts'
import { noSignUpRoutes, type SignUpDeps, signUpRoutes } from './signup.route.ts'
import type { SignUpSettings } from './signup-bounds.ts'
import { SignUp, type SignUpPorts } from './signup-service.client.ts'
import { turnstile } from './turnstile.client.ts'

interface SellingEnv extends CheckoutEnv {
  readonly KEY_SECRET?: string
  /** Bearer token for the mail API. */
  readonly SIGNUP_MAILER_TOKEN?: string
  /** Secret of the Turnstile widget whose site key is in the settings. */
  readonly SIGNUP_TURNSTILE_SECRET?: string
}

interface SellingSettings {
  readonly CHECKOUT: string
  readonly SIGNUP: 'off' | 'log' | 'http'
  readonly SIGNUP_SETTINGS: SignUpSettings
  readonly PUBLIC_URL: string
}

interface SellingDeps extends Pick<SignUpDeps, 'wrongToken' | 'addressOf' | 'requestId' | 'now'> {
  readonly platform: Platform
  readonly visitorsRegion: SignUpPorts['visitorsRegion']
}

export function sellingRoutes(env: SellingEnv, settings: SellingSettings, deps: SellingDeps): Hono {
  const { platform, requestId, now, visitorsRegion } = deps
  const app = new Hono()
  const { STRIPE_WEBHOOK_SECRET: webhookSecret, KEY_SECRET: keySecret } = env
  if (settings.CHECKOUT === 'stripe' && webhookSecret)
    app.route('/', stripeRoutes({ events: platform.checkout, webhookSecret, requestId, now }))
  const mailer = mailerOf(env, settings)
  const { SIGNUP_SETTINGS: terms, PUBLIC_URL: publicUrl } = settings
  const { turnstileSiteKey: siteKey = null } = terms
  const { SIGNUP_TURNSTILE_SECRET: secret } = env
  if (mailer === null || !keySecret || (siteKey !== null && !secret)) return app.route('/', noSignUpRoutes(requestId))
  const { accounts, keys } = platform
  const reported = (error: unknown) => logEvent('sign_up_failed', { error })
  const gate = new AddressLimiter(SIGN_UPS)
  return app.route(
    '/',
    signUpRoutes({
      ...deps,
      db: env.ACCOUNTS,
      publicUrl,
      delivery: settings.SIGNUP === 'log' ? 'log' : 'mail',
      signUp: new SignUp({
        db: env.ACCOUNTS,
        keySecret,
        settings: terms,
        mailer,
        accounts,
        keys,
        nowMs: now,
        visitorsRegion,
        alert: (text) => logEvent('sign_up_limit', { text }),
      }),
      countRequest: (request) => gate.take(deps.addressOf(request), now()),
      turnstile: siteKey && secret ? { siteKey, check: turnstile({ secret, report: reported }) } : null,
      report: reported,
    }),
  )
}

function mailerOf(
  { SIGNUP_MAILER_TOKEN: token }: SellingEnv,
  { SIGNUP, SIGNUP_SETTINGS: { mailer }, PUBLIC_URL: publicUrl }: SellingSettings,
): Mailer | null {
  if (SIGNUP === 'log') return logMailer((link) => logEvent('sign_up_link', { link }))
  return SIGNUP === 'http' && mailer && token ? httpMailer(mailer, token, new URL(publicUrl).host) : null
}
