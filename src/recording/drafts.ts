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
import { type JsonLimits, type JsonText, type Kept, toJsonText } from '../event/json.js'
import { storableText } from '../event/json-copy.js'
import { linkRules, type LinkTable, type ResolveSource, sourceOf } from '../event/links.js'
import { readSourcePath, type SourcePath } from '../event/source-path.js'
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
    system(type, definition, data, { username, attributes } = NOBODY) {
      if (strict && definition) {
        checkData({ type, definition, commonKeys }, data)
        for (const { key, suggestion } of misspeltKeys({ definition, commonKeys }, data))
          warn(
            JSON.stringify([type, key]),
            `${type} was recorded with the data key ${key}; did you mean ${suggestion}?`,
          )
      }
      const text = toJsonText(data, limits, attributes, keep)
      const linked = sourceOf(text.attributes, true, forSystem)
      const source = sourcePathOf(definition)?.(text.attributes) ?? linked
      return draft({ type, system: true, source, username }, text)
    },
    custom(type, data, { username, attributes } = NOBODY) {
      const text = toJsonText(data, limits, attributes, keep)
      const source = sourceOf(text.attributes, false, forCustom)
      return draft({ type, system: false, source, username }, text)
    },
  }
}
