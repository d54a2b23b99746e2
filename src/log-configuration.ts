import { createHash } from 'node:crypto'
import { createRequire } from 'node:module'
import type { LogSettings } from './audit-log-options.js'
import type { JsonValue } from './event/event.js'
import type { LogConfiguration } from './recording/runs.js'
import { isPlainObject } from './options.js'
import { moduleUrl } from './store/module-url.js'

/** JSON with sorted names. Functions and instances, such as an archive, are only named as such. */
function canonical(value: unknown): JsonValue {
  if (typeof value === 'function') return 'function'
  if (Array.isArray(value)) return value.map(canonical)
  if (value === null || value === undefined) return null
  if (typeof value === 'bigint' || typeof value === 'symbol') return value.toString()
  if (typeof value !== 'object') return value as JsonValue
  // Schemas of types may have cycles.
  if (!isPlainObject(value) || '~standard' in value) return 'object'
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .toSorted(([left], [right]) => (left < right ? -1 : 1))
      .map(([name, member]) => [name, canonical(member)]),
  )
}

function versionOf(): string | null {
  try {
    const require = createRequire(moduleUrl)
    return (require('daybook/package.json') as { readonly version: string }).version
  } catch {
    return null
  }
}

/**
 * The configuration of a log for its own events: version, store, failure policies, cleaning rules by name and age, and the
 * SHA-256 hash of these, the types, throttles, links, limits and subscriptions. Channels and keys are in neither.
 */
export function logConfiguration(log: LogSettings): LogConfiguration {
  const { store, types, links, limits, waiting, policies, throttles, strict } = log
  const { rules = [] } = log.cleaning ?? {}
  const { subscriptions: sent = {} } = log.subscriptions ?? {}
  const hashed = { types, links, limits, waiting, policies, strict, rules, subscriptions: sent }
  const text = JSON.stringify(canonical({ ...hashed, throttles: [...throttles.values()] }))
  return {
    version: versionOf(),
    store: store.name,
    policies: canonical(policies),
    rules: canonical(
      rules.map((rule) => ({
        name: rule.name ?? rule.target,
        target: rule.target,
        ...('maxAge' in rule && { maxAge: rule.maxAge }),
      })),
    ),
    config_hash: createHash('sha256').update(text).digest('hex'),
  }
}
