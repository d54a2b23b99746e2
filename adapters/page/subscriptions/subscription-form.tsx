import { type Signal, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { query, zone } from '../data/address.js'
import { may, rights, save, type Subscription } from '../data/managing.js'
import { openView } from '../data/views.js'
import { isViewChanged } from '../list/view-state.js'
import { useLocalTime } from '../ui/local-time.js'
import { showNote } from '../ui/notes.js'
import { texts } from '../ui/texts.js'
import { channelAttributes, ChannelFields, useChannelDraft } from './channel-fields.js'
import { chartStart } from './chart-start.js'
import {
  Choice,
  Field,
  invalidField,
  NAME_PATTERN,
  onSubmit,
  TextField,
  useInvalidFocus,
} from '../managing/fields.js'
import { filterOf, FilterText } from './filter-text.js'
import { channels } from './loading.js'
import { managementTexts } from './management-texts.js'
import { openPlace } from './place.js'
import { ErrorLine } from '../managing/running.js'
import { useRunning } from './use-running.js'
import { showSecret } from './secrets.js'
import { kindText } from './state-text.js'

const words = managementTexts.subscriptions

/** Marks options of the channel field that create a channel. No name has a colon. */
const NEW_CHANNEL = 'new:'

interface ChannelFieldProps {
  readonly value: Signal<string>
  readonly kinds: readonly string[]
  readonly invalid: string | undefined
}

function ChannelField({ value, kinds, invalid }: ChannelFieldProps) {
  if (!may('notification_channels:list') && kinds.length === 0)
    return (
      <TextField label={words.channel} name="channel" value={value} isRequired invalid={invalid} />
    )
  const names = channels.value?.map(({ name }) => name) ?? []
  const isNone = channels.value !== undefined && names.length + kinds.length === 0
  return (
    <Field label={words.channel} hint={isNone ? words.noChannel : undefined}>
      {(control) => (
        <select
          {...control}
          name="channel"
          required
          value={value.value}
          aria-invalid={invalid === 'channel'}
          onChange={(event) => (value.value = event.currentTarget.value)}
        >
          <option value="">{words.choose}</option>
          {names.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
          {kinds.map((kind) => (
            <option key={kind} value={NEW_CHANNEL + kind}>
              {words.newChannel(kindText(kind))}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

type From = 'now' | 'time' | 'beginning'

/** The state of the choice of the start of a new subscription. */
function useFrom() {
  const from = useSignal<From>('now')
  const time = useLocalTime(undefined)
  useEffect(() => {
    if (from.value === 'time' && time.time === undefined) time.set(chartStart() ?? new Date())
  }, [from.value])
  return {
    field: (invalid: string | undefined) => (
      <>
        <Choice
          label={words.from}
          name="begin"
          chosen={from.value}
          choose={(begin) => (from.value = begin)}
          options={[
            ['now', words.fromNow],
            ['time', words.fromTime],
            ['beginning', words.fromBeginning],
          ]}
        />
        {from.value === 'time' && (
          <>
            <TextField
              label={words.fromTime}
              name="from"
              type="datetime-local"
              value={time.wall}
              isRequired
              hint={texts.range.zone(zone.value)}
              invalid={invalid}
            />
            {time.note}
          </>
        )}
      </>
    ),
    value: (): string | undefined => (from.value === 'time' ? time.time : from.value),
  }
}

interface SubscriptionFormProps {
  /** The subscription to change. If it is missing, a subscription to the filter of the list is created. */
  readonly present?: Subscription
  readonly close?: () => void
}

/** The channel if there is only one, else an empty text. */
function onlyChannel(): string {
  const [only, ...others] = channels.value ?? []
  return only && others.length === 0 ? only.name : ''
}

/**
 * A proposed name for a subscription to the open view: `denied-approvals`. Empty without a view, and if the list
 * shows something else.
 */
const nameOfView = (): string =>
  ((!isViewChanged.value && openView.value?.name) || '')
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^a-z0-9_]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 63)

/** The state of the form, and how it is sent. */
function useForm(present: Subscription | undefined, close: () => void) {
  const name = useSignal(present?.name ?? nameOfView())
  const channel = useSignal(present?.channel ?? '')
  useEffect(() => {
    if (channel.value === '') channel.value = onlyChannel()
  }, [channels.value === undefined])
  const filter = useSignal(present?.filter)
  const whenStuck = useSignal(present?.when_stuck ?? 'park')
  const from = useFrom()
  const draft = useChannelDraft()
  const { error, run } = useRunning()
  const newKind = channel.value.startsWith(NEW_CHANNEL)
    ? channel.value.slice(NEW_CHANNEL.length)
    : undefined
  const shownFilter = filter.value ?? filterOf(query.value)

  const createChannel = async (kind: string): Promise<void> => {
    const made = await save('channels', undefined, channelAttributes(kind, draft))
    showSecret(made)
    channel.value = made.name
  }
  const send = async (): Promise<() => void> => {
    // If the next request fails, the new channel stays.
    if (newKind !== undefined) await createChannel(newKind)
    const saved = await save('subscriptions', present?.id, {
      name: name.value,
      channel: channel.value,
      filter: shownFilter,
      when_stuck: whenStuck.value,
      ...(!present && { from: from.value() }),
    })
    showNote((present ? words.saved : words.subscribed)(saved.name))
    return present ? close : () => openPlace('subscriptions', saved.id)
  }
  return {
    name,
    channel,
    filter,
    shownFilter,
    whenStuck,
    from,
    draft,
    newKind,
    error,
    submit: onSubmit(() => void run(send)),
  }
}

export function SubscriptionForm({
  present,
  close = () => openPlace('subscriptions'),
}: SubscriptionFormProps) {
  const { name, channel, filter, newKind, error, ...form } = useForm(present, close)
  const kinds = may('notification_channels:create') ? (rights.value?.kinds ?? []) : []
  const invalid = invalidField(error)
  return (
    <form class="managed-form" ref={useInvalidFocus(error)} onSubmit={form.submit}>
      <div class="managed-field">
        <span>{words.filter}</span>
        <div class="managed-shown">
          <FilterText filter={form.shownFilter} />
        </div>
        {present ? (
          <button type="button" class="link" onClick={() => (filter.value = filterOf(query.value))}>
            {words.useShown}
          </button>
        ) : (
          <small>{words.filterHint}</small>
        )}
      </div>
      <TextField
        label={managementTexts.name}
        name="name"
        value={name}
        isRequired
        pattern={NAME_PATTERN}
        hint={managementTexts.nameHint}
        invalid={newKind === undefined ? invalid : undefined}
      />
      <ChannelField value={channel} kinds={kinds} invalid={invalid} />
      {newKind !== undefined && (
        <div class="managed-inner">
          <ChannelFields key={newKind} kind={newKind} draft={form.draft} invalid={invalid} />
        </div>
      )}
      {!present && form.from.field(invalid)}
      <Choice
        label={words.whenStuck}
        name="when_stuck"
        chosen={form.whenStuck.value}
        choose={(choice) => (form.whenStuck.value = choice)}
        options={[
          ['park', words.park],
          ['hold', words.hold],
        ]}
      />
      <ErrorLine error={error} />
      <div class="managed-actions">
        <button type="submit" class="btn main">
          {present ? managementTexts.save : words.subscribe}
        </button>
        <button type="button" class="btn" onClick={close}>
          {texts.common.cancel}
        </button>
      </div>
    </form>
  )
}
