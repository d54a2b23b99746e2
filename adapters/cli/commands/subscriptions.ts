import type { Argument, Command, CommandModule, Option } from '../call/command.js'
import type * as run from '../run/subscriptions.js'

const SUBSCRIPTION: Argument = {
  name: 'subscription',
  description: 'the name or the id of a subscription',
  required: true,
}

const BY: Option = {
  flags: '--by <user>',
  description:
    'the user of the event that records the change; over HTTP it is the user of the request',
}

const EVENTS: Argument = {
  name: 'events',
  description: 'the ids of parked events',
  variadic: true,
}
const ALL: Option = { flags: '--all', description: 'all parked events of the subscription' }

type Module = typeof run

const load =
  (name: keyof Module): (() => Promise<CommandModule>) =>
  async () => ({ run: (await import('../run/subscriptions.js'))[name] })

const define = (
  action: keyof Module,
  command: Pick<Command, 'summary' | 'description' | 'arguments' | 'options' | 'examples'>,
): Command => ({
  ...command,
  name: `subscriptions ${action}`,
  targets: ['sqlite', 'postgres', 'http'],
  load: load(action),
})

const FROM_THIS_PROCESS =
  'On a file or a database the events are delivered from this process, so --config has to name a module with the channels of the ' +
  'log. On a feed the service delivers them.'

/** The commands on subscriptions. */
export const subscriptions: readonly Command[] = [
  define('list', {
    summary: 'show the subscriptions and how far they are',
    description:
      'Shows each subscription with its state, how far it is behind the newest event, how many events were delivered and are parked, and ' +
      'the last failure. In a pipe there are no headings, and the lag is in milliseconds.',
    arguments: [],
    options: [],
    examples: [
      { run: 'daybook subscriptions list audit.db', says: 'all subscriptions' },
      { run: 'daybook subscriptions list audit.db --json', says: 'with all that is known' },
    ],
  }),
  define('pause', {
    summary: 'stop the deliveries to a subscription',
    description: 'Deliveries end within about two seconds. The subscription keeps its cursor.',
    arguments: [SUBSCRIPTION],
    options: [BY],
    examples: [{ run: 'daybook subscriptions pause audit.db search', says: 'pauses search' }],
  }),
  define('resume', {
    summary: 'go on with the deliveries to a subscription',
    description: 'Deliveries go on where they were paused.',
    arguments: [SUBSCRIPTION],
    options: [BY],
    examples: [{ run: 'daybook subscriptions resume audit.db search', says: 'resumes search' }],
  }),
  define('replay', {
    summary: 'deliver events again',
    description:
      'The events are delivered with the same ids, so receivers can tell that they have them.',
    arguments: [SUBSCRIPTION],
    options: [
      {
        flags: '--from <time>',
        description:
          'deliver from this created_at on, or beginning for all events; without it, from the first event that a disabled channel skipped',
      },
      BY,
    ],
    examples: [
      {
        run: 'daybook subscriptions replay audit.db search --from 2026-11-24T06:00:00Z',
        says: 'delivers what was recorded since then again',
      },
    ],
  }),
  define('parked', {
    summary: 'show the events that could not be delivered',
    description: 'Shows the parked events of a subscription, oldest first.',
    arguments: [SUBSCRIPTION],
    options: [
      {
        flags: '-n, --limit <n>',
        description: 'the largest number of events, 1 to 1000',
        default: '100',
      },
    ],
    examples: [{ run: 'daybook subscriptions parked audit.db search', says: 'its parked events' }],
  }),
  define('redrive', {
    summary: 'deliver parked events again',
    description: `Tries each of the chosen events once more, out of order. Exits with 1 if some were refused again. ${FROM_THIS_PROCESS}`,
    arguments: [SUBSCRIPTION, EVENTS],
    options: [ALL, BY],
    examples: [
      {
        run: 'daybook subscriptions redrive https://shop.example/api/events search --all',
        says: 'tries all parked events of search',
      },
    ],
  }),
  define('discard', {
    summary: 'forget parked events',
    description: 'The chosen events are never delivered to the subscription. They stay in the log.',
    arguments: [SUBSCRIPTION, EVENTS],
    options: [
      ALL,
      {
        flags: '--yes',
        description: 'discard them; without it the command only says how many there are',
      },
      BY,
    ],
    examples: [
      {
        run: 'daybook subscriptions discard audit.db search --all --yes',
        says: 'forgets them all',
      },
    ],
  }),
  define('test', {
    summary: 'deliver a made-up event',
    description: `Delivers one event of the type daybook:test, which is not stored, and says what the receiver answers. Exits with 1 if it was refused. ${FROM_THIS_PROCESS}`,
    arguments: [SUBSCRIPTION],
    options: [BY],
    examples: [
      {
        run: 'daybook subscriptions test https://shop.example/api/events search',
        says: 'tests search',
      },
    ],
  }),
]
