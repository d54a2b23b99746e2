import { AuditLogError } from '../errors.js'
import { type EventDraft, withLateAttributes } from '../event/event.js'
import { type IdSuffix, type RandomBytes, suffixSource } from '../event/event-id.js'
import {
  checkData,
  commonKeysOf,
  type EventTypeDefinition,
  eventTypeFault,
  misspeltKeys,
} from '../event/event-types.js'
import {
  type JsonLimits,
  type JsonText,
  type Kept,
  type TextLimits,
  toJsonText,
} from '../event/json.js'
import { storableText } from '../event/json-copy.js'
import { hasReason, isWrongOutcome, OUTCOME_VALUES } from '../event/known-attributes.js'
import { linkRules, type LinkTable, type ResolveSource, sourceOf } from '../event/links.js'
import { readSourcePath, type SourcePath } from '../event/source-path.js'
import { happened } from './call-attributes.js'
import type { CallContext } from './call-context.js'
import { createWarnOnce } from './warnings.js'

export interface DraftOptions {
  /** Reject system events with data that their type does not declare, and warn of misspelt keys. */
  readonly strict: boolean
  readonly limits: JsonLimits
  readonly links: LinkTable
  readonly resolveSource: ResolveSource | undefined
  readonly random: RandomBytes | undefined
  /** The form of the data that drafts keep beside the JSON text. */
  readonly keep: Kept
}

/** Makes drafts from the arguments of calls. The methods throw if the call must be rejected. */
export interface Drafts {
  system(
    type: string,
    definition: EventTypeDefinition | undefined,
    data: object,
    context?: CallContext,
  ): EventDraft
  custom(type: string, data: object, context?: CallContext): EventDraft
  readonly newSuffix: () => IdSuffix
}

const MAX_HINTS = 1000

const NOBODY: CallContext = { username: null }

/** For strict mode. Throws `INVALID_DATA`. */
function checkOutcome(type: string, { outcome = null }: { readonly outcome?: unknown }): void {
  if (!isWrongOutcome('outcome', outcome)) return
  throw new AuditLogError('INVALID_DATA', `${type}: outcome must be one of ${OUTCOME_VALUES}`, {
    pointer: '/outcome',
  })
}

/** Reads the source of each type once. */
function createSourcePaths() {
  const known = new Map<string, SourcePath>()
  return (definition: EventTypeDefinition | undefined): SourcePath | undefined => {
    const template = definition?.source
    if (template === undefined) return undefined
    const path = known.get(template) ?? readSourcePath(template)
    known.set(template, path)
    return path
  }
}

export function createDrafts({
  strict,
  limits,
  links,
  resolveSource,
  random,
  keep,
}: DraftOptions): Drafts {
  const nextSuffix = suffixSource(random)
  const warn = createWarnOnce(MAX_HINTS)
  const sourcePathOf = createSourcePaths()
  const rules = linkRules(links)
  const commonKeys = commonKeysOf(links)
  const forCustom = { rules, resolve: resolveSource }
  // Unless `strict`, a system event with an invalid link is recorded without a source.
  const forSystem = { ...forCustom, lenient: !strict }

  const systemLimits = { ...limits, system: true }

  const textOf = (data: object, own: TextLimits, { attributes, given }: CallContext): JsonText => {
    if (!given) return toJsonText(data, own, attributes, keep)
    const text = toJsonText(data, own, { ...attributes, ...given }, keep)
    const { added = [] } = text
    const twice = Object.keys(given).find((name) => !added.includes(name))
    if (twice !== undefined)
      throw new AuditLogError('INVALID_OPTION', `${twice} is both an option and in the data`)
    return { ...text, added: added.filter((name) => !Object.hasOwn(given, name)) }
  }

  const draft = (
    { type, system, source, username }: Pick<EventDraft, 'type' | 'system' | 'source' | 'username'>,
    { attributes, json, added }: JsonText,
  ): EventDraft => {
    const fault = eventTypeFault(type)
    if (fault)
      throw new AuditLogError('INVALID_EVENT', `the event type ${fault}`, { pointer: '/type' })
    const suffix = nextSuffix()
    const user = username === null ? null : storableText(username)
    const path = source === null ? null : storableText(source)
    if (keep === 'text')
      return withLateAttributes(
        { suffix, username: user, system, type, source: path, json, added },
        json,
      )
    return { suffix, username: user, system, type, source: path, attributes, json, added }
  }

  return {
    newSuffix: nextSuffix,
    system(type, definition, data, context = NOBODY) {
      if (strict) checkOutcome(type, data)
      if (strict && definition) {
        checkData({ type, definition, commonKeys }, data)
        for (const { key, suggestion } of misspeltKeys({ definition, commonKeys }, data))
          warn(
            JSON.stringify([type, key]),
            `${type} was recorded with the data key ${key}; did you mean ${suggestion}?`,
          )
      }
      const text = textOf(data, systemLimits, context)
      const isReasoned = hasReason(text.attributes) || hasReason(context.given ?? {})
      if (definition?.reason === 'required' && !isReasoned && !happened.has(data))
        throw new AuditLogError(
          'INVALID_DATA',
          `${type} needs a reason: the option reason must be a text that is not blank`,
          { pointer: '/reason' },
        )
      const linked = sourceOf(text.attributes, true, forSystem)
      const source = sourcePathOf(definition)?.(text.attributes) ?? linked ?? context.source ?? null
      return draft({ type, system: true, source, username: context.username }, text)
    },
    custom(type, data, context = NOBODY) {
      const text = textOf(data, limits, context)
      const source = sourceOf(text.attributes, false, forCustom)
      return draft({ type, system: false, source, username: context.username }, text)
    },
  }
}
