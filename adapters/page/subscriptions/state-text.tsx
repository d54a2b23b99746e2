import type { Level } from '../../../src/event/level.js'
import type { Channel, LastError, Subscription, SubscriptionState } from '../data/managing.js'
import { formatPlural } from '../data/format.js'
import { formatAgo } from '../data/more-formats.js'
import { ownValue } from '../data/own-property.js'
import { Mark } from '../ui/icon.js'
import { managementTexts as words } from './management-texts.js'

/** The icon of states that need attention. */
const MARKS: Readonly<Partial<Record<SubscriptionState, Level>>> = {
  failing: 'error',
  broken: 'error',
  unowned: 'warn',
  disabled: 'warn',
}

function Marked({ level, text }: { level: Level | undefined; text: string }) {
  return (
    <span class={level ? `managed-state level-${level}` : 'managed-state'}>
      {level && <Mark level={level} />}
      {text}
    </span>
  )
}

export const State = ({ state }: Pick<Subscription, 'state'>) => (
  <Marked level={MARKS[state]} text={words.states[state] ?? state} />
)

export const ChannelState = ({ enabled }: Pick<Channel, 'enabled'>) => (
  <Marked
    level={enabled ? undefined : 'warn'}
    text={enabled ? words.channels.enabled : words.channels.disabled}
  />
)

/** `2 minutes behind`; empty for less than ten seconds. */
export function lagText({ state, lag_ms: lag }: Subscription): string {
  if (state === 'live' || lag < 10_000) return ''
  const [ms, one, other] = words.units.find(([ms]) => lag >= ms)!
  return words.behind(formatPlural(Math.floor(lag / ms), one, other))
}

/** Reason why something was not delivered: `refused, status 500`. */
export function faultText(fault: string, status: number | null | undefined): string {
  const text = ownValue(words.faults, fault) ?? fault
  return typeof status === 'number' ? words.status(text, status) : text
}

/** `refused, status 500, 8 min. ago`. */
export const errorText = ({ kind, status, at }: LastError): string =>
  `${faultText(kind, status)}, ${formatAgo(at)}`

export const kindText = (kind: string): string => ownValue(words.channels.kinds, kind) ?? kind
