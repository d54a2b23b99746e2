import { useEffect, useRef } from 'preact/hooks'
import { openManaged } from '../data/address.js'
import { may, rights } from '../data/managing.js'
import { errorText } from '../list/load-failure.js'
import { Icon } from '../ui/icon.js'
import { useFocusReturn } from '../managing/use-focus-return.js'
import { useEscape } from '../ui/keyboard.js'
import { copyText } from '../ui/copy-text.js'
import { PanelTools } from '../ui/panel-tools.js'
import { Segments } from '../ui/segmented-control.js'
import { texts } from '../ui/texts.js'
import { ChannelDetail } from './channel-detail.js'
import { ChannelForm } from './channel-form.js'
import { ChannelList, SubscriptionList } from './item-lists.js'
import { channels, loadError, refresh, subscriptions, useRefreshing } from './loading.js'
import { managementTexts as words } from './management-texts.js'
import { NEW, openPlace, place, type Tab } from './place.js'
import { generated } from './secrets.js'
import { SubscriptionDetail } from './subscription-detail.js'
import { SubscriptionForm } from './subscription-form.js'

const close = (): void => openManaged(undefined)

const LIST_ACTIONS = {
  subscriptions: 'subscriptions:list',
  channels: 'notification_channels:list',
} as const

const TABS: readonly Tab[] = ['subscriptions', 'channels']

function Tools() {
  const { tab, id } = place.value
  const tabs = TABS.filter((name) => may(LIST_ACTIONS[name]))
  const toList = { label: words.back, go: () => openPlace(tab) }
  return (
    <PanelTools
      close={close}
      back={id === undefined ? undefined : toList}
      start={
        tabs.length > 1 && (
          <Segments
            label={words.show}
            names={tabs.map((name) => words.tabs[name])}
            chosen={tabs.indexOf(tab)}
            choose={(index) => openPlace(tabs[index]!)}
          />
        )
      }
    />
  )
}

/** A generated secret, until the user has stored it. */
function Secret() {
  const region = useRef<HTMLElement>(null)
  const { name, secret } = generated.value ?? {}
  useEffect(() => region.current?.focus(), [secret])
  if (name === undefined || secret === undefined) return null
  return (
    <section class="secret" ref={region} tabIndex={-1} aria-label={words.secret.title(name)}>
      <h3>{words.secret.title(name)}</h3>
      <code>{secret}</code>
      <p>{words.secret.text}</p>
      <div class="managed-actions">
        <button type="button" class="btn small main" onClick={() => void copyText(secret)}>
          <Icon name="copy" />
          {words.secret.copy}
        </button>
        <button type="button" class="btn small" onClick={() => (generated.value = undefined)}>
          {words.secret.done}
        </button>
      </div>
    </section>
  )
}

/** The open list or item, and its heading. */
function content() {
  const { tab, id } = place.value
  if (id === NEW)
    return tab === 'subscriptions'
      ? { title: words.subscriptions.create, body: <SubscriptionForm /> }
      : { title: words.channels.create, body: <ChannelForm /> }
  if (!may(LIST_ACTIONS[tab])) return { title: words.tabs[tab], body: <p>{words.notListed}</p> }
  const items = tab === 'subscriptions' ? subscriptions.value : channels.value
  if (id === undefined)
    return {
      title: words.tabs[tab],
      body: items && (tab === 'subscriptions' ? <SubscriptionList /> : <ChannelList />),
    }
  const subscription = subscriptions.value?.find((one) => one.id === id)
  if (tab === 'subscriptions' && subscription)
    return {
      title: subscription.name,
      body: <SubscriptionDetail key={id} subscription={subscription} />,
    }
  const channel = channels.value?.find((one) => one.id === id)
  if (tab === 'channels' && channel)
    return { title: channel.name, body: <ChannelDetail key={id} channel={channel} /> }
  return items
    ? { title: words.missing[tab], body: <p>{words.missingHint}</p> }
    : { title: words.tabs[tab], body: undefined }
}

function LoadFailure() {
  if (!loadError.value) return null
  return (
    <p class="managed-error" role="alert">
      {errorText(loadError.value)}{' '}
      <button type="button" class="link" onClick={() => void refresh()}>
        {texts.states.failed.again}
      </button>
    </p>
  )
}

/** Subscriptions and channels, beside the list of events. */
export function ManagementPanel() {
  const heading = useRef<HTMLHeadingElement>(null)
  const { tab, id } = place.value
  useFocusReturn()
  useEscape(true, close)
  useRefreshing()
  useEffect(() => heading.current?.focus(), [tab, id])
  useEffect(
    () => () => {
      generated.value = undefined
    },
    [],
  )
  const { title, body } = content()
  const isLoading = rights.value === undefined || body === undefined
  return (
    <aside class="panel managed" aria-label={words.region} aria-busy={isLoading}>
      <Tools />
      <div class="panel-body" tabIndex={0} role="region" aria-label={title}>
        <h2 ref={heading} class="headline" tabIndex={-1}>
          {title}
        </h2>
        <LoadFailure />
        <Secret />
        {body ?? (loadError.value ? null : <p>{words.loading}</p>)}
      </div>
    </aside>
  )
}
