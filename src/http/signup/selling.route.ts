// Routes of a gateway that sells credits: the payment provider's webhook and sign-up. Invariant: a feature that is off
// or lacks its secret has no routes.

import { Hono } from 'hono'
import { AddressLimiter, SIGN_UPS } from '../../accounts/address-limiter.ts'
import type { CheckoutEnv } from '../../billing/checkout/checkout-service.client.ts'
import { stripeRoutes } from '../../billing/checkout/stripe/stripe.route.ts'
import { logEvent } from '../../core/log.client.ts'
import type { MailerEnv, MailerSettings } from '../mail/mailer.client.ts'
import type { Platform } from '../platform/platform-api.ts'
import { linkMailerOf } from './link-mails.client.ts'
import type { MemberService } from './member-service.client.ts'
import type { MemberSignIn } from './member-sign-in.client.ts'
import { noSignUpRoutes, type SignUpDeps, signUpRoutes } from './signup.route.ts'
import type { SignUpSettings } from './signup-bounds.ts'
import { SignUp, type SignUpPorts } from './signup-service.client.ts'
import { turnstile } from './turnstile.client.ts'

interface SellingEnv extends CheckoutEnv, MailerEnv {
  readonly KEY_SECRET?: string
  /** Secret of the Turnstile widget whose site key is in the settings. */
  readonly SIGNUP_TURNSTILE_SECRET?: string
}

interface SellingSettings extends MailerSettings {
  readonly SIGNUP_SETTINGS: SignUpSettings
  readonly CHECKOUT: string
}

interface SellingDeps extends Pick<SignUpDeps, 'wrongToken' | 'addressOf' | 'requestId' | 'now'> {
  readonly platform: Platform
  readonly members: MemberService
  readonly signIn: MemberSignIn
  readonly visitorsRegion: SignUpPorts['visitorsRegion']
}

export function sellingRoutes(env: SellingEnv, settings: SellingSettings, deps: SellingDeps): Hono {
  const { platform, members, signIn, requestId, now, visitorsRegion } = deps
  const app = new Hono()
  const { STRIPE_WEBHOOK_SECRET: webhookSecret, KEY_SECRET: keySecret } = env
  if (settings.CHECKOUT === 'stripe' && webhookSecret)
    app.route('/', stripeRoutes({ events: platform.checkout, webhookSecret, requestId, now }))
  const mailer = linkMailerOf(env, settings)
  const { SIGNUP_SETTINGS: terms, PUBLIC_URL: publicUrl } = settings
  const { turnstileSiteKey: siteKey = null } = terms
  const { SIGNUP_TURNSTILE_SECRET: secret } = env
  if (mailer === null || !keySecret || (siteKey !== null && !secret)) return app.route('/', noSignUpRoutes(requestId))
  const { accounts } = platform
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
        members,
        signIn,
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
