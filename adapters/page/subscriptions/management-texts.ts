import { formatNumber, formatPlural } from '../data/format.js'
import { formatMilliseconds } from '../data/more-formats.js'
import { byLanguage } from '../data/language.js'
import type { SubscriptionState } from '../data/managing.js'
import { de } from './management-texts-de.js'

const en = {
  region: 'Subscriptions and channels',
  show: 'Show',
  tabs: { subscriptions: 'Subscriptions', channels: 'Channels' },
  back: 'Back',
  loading: 'Loading',
  missing: { subscriptions: 'No such subscription', channels: 'No such channel' },
  missingHint: 'It was removed, or you may not see it.',
  notListed: 'You may not list them.',
  save: 'Save',
  edit: 'Edit',
  remove: 'Delete',
  test: 'Test',
  testing: 'Waiting for the channel',
  eventCount: (count: number) => formatPlural(count, 'event', 'events'),
  tested: ({ accepted, duration }: { accepted: boolean; duration: number }, why: string) =>
    accepted
      ? `The channel accepted a test event in ${formatMilliseconds(duration)}.`
      : `The test event was not accepted: ${why}.`,
  removed: (name: string) => `${name} deleted`,
  inCode: 'in code',
  inCodeHint: 'Part of the code of the service. It can only be changed there.',
  name: 'Name',
  nameHint: 'Lower-case letters, digits, _ and -',
  secret: {
    title: (name: string) => `Secret of ${name}`,
    text: 'The receiver checks signatures with it. It is not shown again.',
    copy: 'Copy the secret',
    done: 'I have stored it',
  },
  states: {
    live: 'live',
    catching_up: 'catching up',
    failing: 'failing',
    paused: 'paused',
    disabled: 'channel disabled',
    broken: 'broken',
    unowned: 'no process has the channel',
  } satisfies Record<SubscriptionState, string>,
  /** Reasons why a delivery failed. */
  faults: {
    refused: 'refused',
    status: 'refused',
    timeout: 'no answer in time',
    network: 'network error',
    address: 'address not allowed',
    smtp: 'refused by the mail server',
    thrown: 'error in the function',
    rendering: 'content could not be made',
  } as Readonly<Record<string, string>>,
  status: (fault: string, status: number) => `${fault}, status ${status}`,
  behind: (lag: string) => `${lag} behind`,
  units: [
    [86_400_000, 'day', 'days'],
    [3_600_000, 'hour', 'hours'],
    [60_000, 'minute', 'minutes'],
    [1000, 'second', 'seconds'],
  ] as readonly (readonly [ms: number, one: string, other: string])[],
  parkedCount: (count: number) => `${formatNumber(count)} parked`,
  skippedCount: (count: number) => `${formatNumber(count)} skipped`,
  subscriptions: {
    create: 'New subscription',
    createFrom: 'Subscribe to the shown filter',
    empty: 'No subscriptions yet',
    emptyHint:
      'A subscription delivers each new event that matches a filter to a channel, such as a webhook.',
    to: (channel: string) => `to ${channel}`,
    channel: 'Channel',
    noChannel: 'There is no channel, and you may not create one.',
    newChannel: (kind: string) => `New channel: ${kind}`,
    choose: 'Choose a channel',
    filter: 'Filter',
    filterHint: 'The order and the time range of the list are dropped: an alert has none.',
    useShown: 'Use the filter of the list',
    showEvents: 'Show these events',
    allEvents: 'All events',
    from: 'Begin with',
    fromNow: 'New events',
    fromTime: 'A time',
    fromBeginning: 'The first event',
    whenStuck: 'An event that cannot be delivered',
    park: 'is set aside',
    hold: 'stops the deliveries',
    subscribe: 'Subscribe',
    subscribed: (name: string) => `Subscribed: ${name}`,
    saved: (name: string) => `${name} saved`,
    pause: 'Pause',
    resume: 'Resume',
    removeQuestion: (name: string) =>
      `Delete ${name}? Deliveries end, and parked events are no longer delivered.`,
    facts: {
      state: 'State',
      channel: 'Channel',
      filter: 'Filter',
      cursor: 'Delivered to',
      delivered: 'Delivered',
      lastError: 'Last failure',
      nextAttempt: 'Next attempt',
      skipped: 'Skipped',
      owner: 'Owner',
    },
    attempts: (count: number) => formatPlural(count, 'failed attempt', 'failed attempts'),
    since: (time: string) => `since ${time}`,
    skipped: (count: number, since: string) =>
      `${formatPlural(count, 'event', 'events')} since ${since}, while the channel was disabled`,
  },
  replay: {
    title: 'Replay',
    text: 'Events are delivered again, with the same ids.',
    from: 'Begin with',
    skipped: 'The first skipped event',
    chart: (time: string) => `The chart: ${time}`,
    chartHint: 'Zoom or select bars in the chart to replay from there.',
    time: 'A time',
    beginning: 'The first event of the log',
    run: 'Replay',
    done: 'Replay started',
  },
  parked: {
    title: 'Parked events',
    none: 'No parked events.',
    first: (count: number) => `The first ${formatNumber(count)}:`,
    attempts: (count: number) => formatPlural(count, 'attempt', 'attempts'),
    open: 'Open the event',
    redrive: 'Deliver again',
    discard: 'Discard',
    redriveAll: 'Deliver all again',
    discardAll: 'Discard all',
    discardQuestion: (count: number) =>
      `Discard ${formatPlural(count, 'event', 'events')}? They are not delivered, and stay in the log.`,
    redriven: ({ delivered, failed, missed }: Redriven) =>
      [
        `${formatNumber(delivered)} delivered`,
        ...(failed > 0 ? [`${formatNumber(failed)} failed again`] : []),
        ...(missed > 0 ? [`${formatNumber(missed)} no longer in the log`] : []),
      ].join(', '),
    discarded: (count: number) => `${formatNumber(count)} discarded`,
  },
  channels: {
    create: 'New channel',
    name: 'Name of the channel',
    empty: 'No channels yet',
    emptyHint: 'A channel is where events go, such as a webhook or an e-mail address.',
    kind: 'Kind',
    kinds: { webhook: 'webhook', slack: 'Slack', email: 'e-mail' } as Readonly<
      Record<string, string>
    >,
    created: (name: string) => `${name} created`,
    saved: (name: string) => `${name} saved`,
    enable: 'Enable',
    disable: 'Disable',
    disableQuestion: 'Disable it? Events pass without being delivered, and can be replayed later.',
    enabled: 'enabled',
    disabled: 'disabled',
    rotate: 'New secret',
    rotateQuestion: 'Make a new secret? The old one stays valid for 24 hours.',
    removeQuestion: (name: string) => `Delete ${name}?`,
    usedBy: 'Used by',
    noSubscription: 'no subscription',
    config: 'Settings',
    configHint: 'A JSON object',
    notJson: 'This is not a JSON object.',
    unchanged: 'unchanged',
    fields: {
      url: 'URL',
      webhook_url: 'Webhook URL of Slack',
      to: 'To',
      subject: 'Subject',
    },
    hints: { to: 'Addresses, separated by commas', subject: 'Empty: a sentence' },
  },
}

/** The texts about subscriptions and channels, which are loaded on demand. */
export const managementTexts = byLanguage({ en, de })

/** Result of delivering parked events again. */
export interface Redriven {
  readonly delivered: number
  readonly failed: number
  readonly missed: number
}
