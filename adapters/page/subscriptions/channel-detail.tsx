import { useSignal } from '@preact/signals'
import { act, type Channel, may, remove } from '../data/managing.js'
import { showNote } from '../ui/notes.js'
import { canRotate } from './channel-fields.js'
import { ChannelForm } from './channel-form.js'
import { Fact } from './fact.js'
import { subscriptions } from './loading.js'
import { managementTexts } from './management-texts.js'
import { openPlace } from './place.js'
import { ConfirmButton, ErrorLine } from '../managing/running.js'
import { useRunning } from './use-running.js'
import { showSecret } from './secrets.js'
import { ChannelState, kindText } from './state-text.js'
import { useTest } from './test-button.js'

const words = managementTexts.channels

const valueText = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value)

function UsedBy({ name }: { name: string }) {
  const users = subscriptions.value?.filter(({ channel }) => channel === name)
  if (!users) return null
  return (
    <Fact label={words.usedBy}>
      {users.length === 0 && words.noSubscription}
      {users.map(({ id, name }) => (
        <>
          <button
            key={id}
            type="button"
            class="link"
            onClick={() => openPlace('subscriptions', id)}
          >
            {name}
          </button>{' '}
        </>
      ))}
    </Fact>
  )
}

function Facts({ channel }: { channel: Channel }) {
  const { name, kind, config, enabled, disabled_reason: reason } = channel
  return (
    <dl class="facts">
      <Fact label={managementTexts.subscriptions.facts.state}>
        <ChannelState enabled={enabled} /> <small>{reason}</small>
      </Fact>
      <Fact label={words.kind}>{kindText(kind)}</Fact>
      {Object.entries(config).map(([member, value]) => (
        <Fact key={member} label={member}>
          <bdi class="mono">{valueText(value)}</bdi>
        </Fact>
      ))}
      <UsedBy name={name} />
    </dl>
  )
}

const allowed = (action: string): boolean => may(`notification_channels:${action}`)

/** Enables a channel, or disables it after a question. */
function Switch({ channel, set }: { channel: Channel; set: (to: 'enable' | 'disable') => void }) {
  if (!channel.enabled)
    return allowed('enable') ? (
      <button type="button" class="btn small" onClick={() => set('enable')}>
        {words.enable}
      </button>
    ) : null
  if (!allowed('disable')) return null
  return (
    <ConfirmButton
      label={words.disable}
      question={words.disableQuestion}
      act={() => set('disable')}
    />
  )
}

/** Actions of the user on the channel. */
function Actions({ channel, edit }: { channel: Channel; edit: () => void }) {
  const { id, name, in_code: isInCode } = channel
  const running = useRunning()
  const test = useTest('channels', id, running)
  const set = (action: 'enable' | 'disable'): void =>
    void running.run(async () => {
      await act('channels', id, action)
    })
  const rotate = (): void =>
    void running.run(async () => showSecret(await act('channels', id, 'rotate_secret')))
  const removeIt = (): void =>
    void running.run(async () => {
      await remove('channels', id)
      showNote(managementTexts.removed(name))
      return () => openPlace('channels')
    })
  return (
    <>
      <div class="managed-actions" aria-busy={running.isBusy}>
        <Switch channel={channel} set={set} />
        {allowed('test') && test.button}
        {!isInCode && allowed('update') && (
          <button type="button" class="btn small" onClick={edit}>
            {managementTexts.edit}
          </button>
        )}
        {!isInCode && canRotate(channel.kind) && allowed('rotate_secret') && (
          <ConfirmButton label={words.rotate} question={words.rotateQuestion} act={rotate} />
        )}
        {!isInCode && allowed('delete') && (
          <ConfirmButton
            label={managementTexts.remove}
            question={words.removeQuestion(name)}
            act={removeIt}
          />
        )}
      </div>
      {isInCode && <p>{managementTexts.inCodeHint}</p>}
      {test.line}
      <ErrorLine error={running.error} />
    </>
  )
}

/** One channel: its settings, and the user's actions on it. */
export function ChannelDetail({ channel }: { channel: Channel }) {
  const isEditing = useSignal(false)
  const close = (): void => {
    isEditing.value = false
  }
  if (isEditing.value) return <ChannelForm present={channel} close={close} />
  return (
    <>
      <Facts channel={channel} />
      <Actions channel={channel} edit={() => (isEditing.value = true)} />
    </>
  )
}
