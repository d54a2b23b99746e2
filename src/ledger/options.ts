import { AuditLogError } from '../errors.js'
import { type Duration, durationFault } from '../event/duration.js'
import type { ScheduledAnchor } from './anchors.js'
import { type OptionNames, requireOptions } from '../options.js'
import type { EventStore } from '../store/store.js'
import type { LedgerSigner } from './note.js'
import { checkOriginName } from './origin.js'

/** Options of the ledger of a log. */
export interface LedgerOptions {
  /**
   * Identifies the ledger, and is the name of its key: a URL without its scheme, such as `audit.example.com/orders`. 1 to 255
   * visible ASCII characters without `+`.
   */
  readonly origin: string
  /**
   * Signs the heads: `keyFile` of `daybook/ledger`, or an object with `vkey` and `sign` for a key that is kept elsewhere. A process
   * without a signer records as usual, and seals nothing.
   */
  readonly signer?: LedgerSigner | undefined
  /** The verifier key, for a process without a signer. @default that of the signer */
  readonly key?: string | undefined
  /** Verifies again and again, in the process that seals. The time of the last verification is kept in the store. @default never */
  readonly verify?: VerifySchedule | undefined
  /**
   * Places outside of the database that get heads, from the process that seals, such as `directoryAnchor` of `daybook/ledger`. Verifications use their last heads.
   * @default none
   */
  readonly anchors?: readonly ScheduledAnchor[] | undefined
}

export interface VerifySchedule {
  /** Time from the start of one verification to the start of the next, at least a minute. */
  readonly every: Duration
}

const VERIFY_SCHEDULE: OptionNames<VerifySchedule> = { every: true }

const LEDGER_OPTIONS: OptionNames<LedgerOptions> = {
  origin: true,
  signer: true,
  key: true,
  verify: true,
  anchors: true,
}

const SCHEDULED_ANCHOR: OptionNames<ScheduledAnchor> = { anchor: true, every: true }

/** The options as the ledger uses them. */
export interface LedgerSettings {
  readonly origin: string
  readonly signer: LedgerSigner | undefined
  readonly vkey: string
  readonly every: Duration | undefined
  readonly anchors: readonly ScheduledAnchor[]
}

const invalid = (message: string): AuditLogError => new AuditLogError('INVALID_OPTION', message)

const VKEY = /^[^+\s]+\+[0-9a-f]{8}\+[A-Za-z0-9+/]+=*$/

function readEvery(verify: VerifySchedule | undefined): Duration | undefined {
  if (verify === undefined) return undefined
  requireOptions(verify, VERIFY_SCHEDULE, 'ledger.verify')
  const fault = durationFault(verify.every)
  if (fault !== undefined) throw invalid(`ledger.verify.every ${fault}`)
  return { ...verify.every }
}

function readAnchors(given: readonly ScheduledAnchor[] | undefined): readonly ScheduledAnchor[] {
  if (given === undefined) return []
  if (!Array.isArray(given)) throw invalid('ledger.anchors must be a list')
  const anchors = (given as readonly ScheduledAnchor[]).map((one, i): ScheduledAnchor => {
    requireOptions(one, SCHEDULED_ANCHOR, `ledger.anchors[${i}]`)
    const { anchor, every } = one
    const isAnchor =
      typeof anchor?.name === 'string' && anchor.name !== '' && typeof anchor.publish === 'function'
    if (!isAnchor) throw invalid(`ledger.anchors[${i}].anchor must have a name and publish`)
    const fault = durationFault(every)
    if (fault !== undefined) throw invalid(`ledger.anchors[${i}].every ${fault}`)
    return { anchor, every: { ...every } }
  })
  const names = anchors.map(({ anchor }) => anchor.name)
  const twice = names.find((name, i) => names.indexOf(name) < i)
  if (twice !== undefined) throw invalid(`two anchors of the ledger have the name ${twice}`)
  return anchors
}

/** Returns the options. Throws `INVALID_OPTION`, also for a store that keeps no ledger. */
export function readLedgerOptions(
  given: LedgerOptions | undefined,
  store: EventStore,
): LedgerSettings | undefined {
  if (given === undefined) return undefined
  requireOptions(given, LEDGER_OPTIONS, 'ledger')
  const { origin, signer, key, verify, anchors } = given
  checkOriginName(origin, 'ledger.origin')
  if (!store.ledger)
    throw invalid(
      `ledger: the ${store.name} store keeps no ledger${store.name === 'postgres' ? ' with the option citus' : ''}`,
    )
  if (
    signer !== undefined &&
    (typeof signer?.vkey !== 'string' || typeof signer.sign !== 'function')
  )
    throw invalid('ledger.signer must be a signer, such as keyFile of daybook/ledger')
  if (signer === undefined && key === undefined)
    throw invalid('ledger needs a signer, or the key of the process that has one')
  for (const [name, vkey] of Object.entries({ 'signer.vkey': signer?.vkey, key })) {
    if (vkey === undefined) continue
    if (typeof vkey !== 'string' || !VKEY.test(vkey))
      throw invalid(
        `ledger.${name} must be a verifier key: <origin>+<8 hexadecimal digits>+<base64>`,
      )
    if (!vkey.startsWith(`${origin}+`))
      throw invalid(
        `ledger.${name} is the key of ${vkey.slice(0, vkey.indexOf('+'))}, not of ${origin}`,
      )
  }
  if (signer && key !== undefined && key !== signer.vkey)
    throw invalid('ledger.key is not the verifier key of the signer')
  return {
    origin,
    signer,
    vkey: key ?? signer!.vkey,
    every: readEvery(verify),
    anchors: readAnchors(anchors),
  }
}
