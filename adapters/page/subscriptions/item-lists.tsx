import { may } from '../data/managing.js'
import { Icon } from '../ui/icon.js'
import { channels, subscriptions } from './loading.js'
import { managementTexts as words } from './management-texts.js'
import { NEW, openPlace, type Tab } from './place.js'
import { ChannelState, errorText, kindText, lagText, State } from './state-text.js'

function Create({ tab, label }: { tab: Tab; label: string }) {
  return (
    <div class="managed-actions">
      <button type="button" class="btn small main" onClick={() => openPlace(tab, NEW)}>
        <Icon name="plus" />
        {label}
      </button>
    </div>
  )
}

function Empty({ title, hint }: { title: string; hint: string }) {
  return (
    <p class="managed-empty">
      <b>{title}.</b> {hint}
    </p>
  )
}

const Name = ({ tab, id, name }: { tab: Tab; id: string; name: string }) => (
  <button type="button" class="managed-name" onClick={() => openPlace(tab, id)}>
    <bdi>{name}</bdi>
  </button>
)

const filled = (parts: readonly (string | false)[]): string => parts.filter(Boolean).join(' · ')

export function SubscriptionList() {
  const all = subscriptions.value ?? []
  return (
    <>
      {all.length === 0 && (
        <Empty title={words.subscriptions.empty} hint={words.subscriptions.emptyHint} />
      )}
      <ul class="managed-list">
        {all.map((one) => (
          <li key={one.id}>
            <Name tab="subscriptions" id={one.id} name={one.name} />
            <State state={one.state} />
            <small>
              {filled([
                words.subscriptions.to(one.channel),
                one.in_code && words.inCode,
                lagText(one),
                one.state === 'failing' && one.last_error !== null && errorText(one.last_error),
                one.parked > 0 && words.parkedCount(one.parked),
                one.skipped > 0 && words.skippedCount(one.skipped),
              ])}
            </small>
          </li>
        ))}
      </ul>
      {may('subscriptions:create') && (
        <Create tab="subscriptions" label={words.subscriptions.createFrom} />
      )}
    </>
  )
}

export function ChannelList() {
  const all = channels.value ?? []
  return (
    <>
      {all.length === 0 && <Empty title={words.channels.empty} hint={words.channels.emptyHint} />}
      <ul class="managed-list">
        {all.map(({ id, name, kind, enabled, in_code: isInCode, disabled_reason: reason }) => (
          <li key={id}>
            <Name tab="channels" id={id} name={name} />
            <ChannelState enabled={enabled} />
            <small>{filled([kindText(kind), isInCode && words.inCode, reason ?? ''])}</small>
          </li>
        ))}
      </ul>
      {may('notification_channels:create') && (
        <Create tab="channels" label={words.channels.create} />
      )}
    </>
  )
}
