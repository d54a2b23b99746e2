import { type Signal, useSignal } from '@preact/signals'
import type { Channel } from '../data/managing.js'
import { ownValue } from '../data/own-property.js'
import { Field, NAME_PATTERN, TextField } from '../managing/fields.js'
import { InputError } from '../managing/running.js'
import { managementTexts as words } from './management-texts.js'

interface ConfigField {
  readonly name: keyof typeof words.channels.fields
  readonly type: 'text' | 'url'
  readonly isRequired: boolean
  /** Users never see its value. */
  readonly isSecret?: true
  readonly isList?: true
}

interface Kind {
  readonly fields: readonly ConfigField[]
  readonly canRotate: boolean
}

/** The kinds with fields. The config of other kinds is edited as JSON. */
const KINDS: Readonly<Record<string, Kind>> = {
  webhook: { fields: [{ name: 'url', type: 'url', isRequired: true }], canRotate: true },
  slack: {
    fields: [{ name: 'webhook_url', type: 'url', isRequired: true, isSecret: true }],
    canRotate: false,
  },
  email: {
    fields: [
      { name: 'to', type: 'text', isRequired: true, isList: true },
      { name: 'subject', type: 'text', isRequired: false },
    ],
    canRotate: false,
  },
}

/** True if channels of the kind may have a generated secret. */
export const canRotate = (kind: string): boolean => ownValue(KINDS, kind)?.canRotate ?? true

/** Input of the user. */
export interface ChannelDraft {
  readonly name: Signal<string>
  /** The config as JSON, for kinds without fields. */
  readonly json: Signal<string>
  readonly url: Signal<string>
  readonly webhook_url: Signal<string>
  readonly to: Signal<string>
  readonly subject: Signal<string>
}

const textOf = (value: unknown): string => {
  if (Array.isArray(value)) return value.join(', ')
  return typeof value === 'string' ? value : ''
}

export function useChannelDraft(present?: Channel): ChannelDraft {
  const { config = {} } = present ?? {}
  return {
    name: useSignal(present?.name ?? ''),
    json: useSignal(JSON.stringify(config, null, 2)),
    url: useSignal(textOf(config['url'])),
    webhook_url: useSignal(''),
    to: useSignal(textOf(config['to'])),
    subject: useSignal(textOf(config['subject'])),
  }
}

function parseConfig(text: string): object {
  const invalid = new InputError(words.channels.notJson)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw invalid
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value)) throw invalid
  return value
}

function valueOf({ isList }: ConfigField, text: string): unknown {
  if (isList) return text.split(',').flatMap((part) => part.trim() || [])
  return text.trim()
}

/**
 * The config as entered. An empty field is left out for a new channel, and removed from an existing one. An empty
 * secret stays unchanged.
 */
function configOf(kind: string, draft: ChannelDraft, present: Channel | undefined): object {
  const fields = ownValue(KINDS, kind)?.fields
  if (!fields) return parseConfig(draft.json.value)
  const entries = fields.flatMap((field): [string, unknown][] => {
    const text = draft[field.name].value
    if (text !== '') return [[field.name, valueOf(field, text)]]
    return present && !field.isSecret ? [[field.name, null]] : []
  })
  return Object.fromEntries(entries)
}

/** The attributes of a request that creates or changes the channel. Throws `InputError`. */
export function channelAttributes(kind: string, draft: ChannelDraft, present?: Channel): object {
  const config = configOf(kind, draft, present)
  const { name } = draft
  return present ? { name: name.value, config } : { name: name.value, kind, config }
}

interface ChannelFieldsProps {
  readonly kind: string
  readonly draft: ChannelDraft
  readonly present?: Channel
  readonly invalid: string | undefined
}

export function ChannelFields({ kind, draft, present, invalid }: ChannelFieldsProps) {
  const fields = ownValue(KINDS, kind)?.fields
  const { hints } = words.channels
  return (
    <>
      <TextField
        label={words.channels.name}
        name="name"
        value={draft.name}
        isRequired
        pattern={NAME_PATTERN}
        hint={words.nameHint}
        invalid={invalid}
      />
      {fields?.map(({ name, type, isRequired, isSecret }) => (
        <TextField
          key={name}
          label={words.channels.fields[name]}
          name={name}
          type={type}
          value={draft[name]}
          isRequired={isRequired && !(isSecret && present)}
          placeholder={isSecret && present ? words.channels.unchanged : undefined}
          hint={name in hints ? hints[name as keyof typeof hints] : undefined}
          invalid={invalid}
        />
      ))}
      {!fields && (
        <Field label={words.channels.config} hint={words.channels.configHint}>
          {(control) => (
            <textarea
              {...control}
              name="config"
              rows={6}
              spellcheck={false}
              value={draft.json.value}
              aria-invalid={invalid === 'config'}
              onInput={(event) => (draft.json.value = event.currentTarget.value)}
            />
          )}
        </Field>
      )}
    </>
  )
}
