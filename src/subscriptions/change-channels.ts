import { randomUUID } from 'node:crypto'
import { AuditLogError } from '../errors.js'
import { currentActor } from '../recording/actor.js'
import type { WaitOptions } from '../store/store.js'
import type { ChannelDraft, ChannelKind, ChannelSetup } from './channel-kind.js'
import {
  findCreated,
  invalidChannel,
  managedChannel,
  publicChannel,
  readCodeChannels,
} from './find-channels.js'
import { channelIdOfName, checkChannel } from './in-code.js'
import { changesBetween, type Management, refresh } from './manage.js'
import {
  CHANNEL_CHANGE,
  CHANNEL_DEFINITION,
  type ChannelWithSecret,
  MANAGE_OPTIONS,
  type ManageOptions,
  type NotificationChannels,
} from './notification-channel.js'
import type { Seals } from './seals.js'
import type { ChannelState } from './states.js'
import { isName, NAME_RULE } from './subscription.js'
import { requireOptions } from '../options.js'

export interface ChannelsOptions {
  readonly kinds: Readonly<Record<string, ChannelKind>>
  readonly seals: Seals
}

/** The user of the event about a change, if the call names none. */
const currentUser = (): string | null => currentActor()?.username ?? null

interface Changes {
  readonly name?: string | undefined
  readonly draft: ChannelDraft | undefined
}

type ChangeChannel = (
  id: string,
  action: string,
  next: (before: ChannelState, kind: ChannelKind) => Promise<Changes>,
  given: ManageOptions,
) => Promise<ChannelWithSecret>

/** Throws `INVALID_CHANNEL`. */
function kindNamed({ kinds }: ChannelsOptions, kind: unknown): ChannelKind {
  if (typeof kind === 'string' && Object.hasOwn(kinds, kind)) return kinds[kind]!
  throw invalidChannel('kind', `${JSON.stringify(kind)} is not a kind of this process`)
}

/** Throws `INVALID_CHANNEL`, and `NAME_TAKEN` for the name of a channel in code. */
async function checkName(
  management: Management,
  name: unknown,
  { signal }: WaitOptions,
): Promise<void> {
  if (!isName(name)) throw invalidChannel('name', NAME_RULE)
  const inCode = await readCodeChannels(management, new Map(), signal)
  if (inCode.has(channelIdOfName(name)))
    throw new AuditLogError('NAME_TAKEN', `there is a channel ${name} in the code`)
}

function checkConfig(config: unknown): void {
  if (config === null || typeof config !== 'object' || Array.isArray(config))
    throw invalidChannel('config', 'must be an object')
}

const setupOf = (seals: Seals, id: string, { config, sealed }: ChannelState): ChannelSetup => ({
  config,
  secrets: seals.open(id, sealed),
})

type NamedDraft = Pick<ChannelState, 'name'> & { readonly id: string; readonly draft: ChannelDraft }

/** The members of the state that are made from a draft. Throws if the channel could not be opened. */
function setUp(
  { seals }: ChannelsOptions,
  kind: ChannelKind,
  { id, name, draft: { config, secrets } }: NamedDraft,
): Pick<ChannelState, 'config' | 'sealed'> {
  const sealed = seals.seal(id, secrets)
  checkChannel(name, kind.open({ config, secrets }))
  return { config, sealed }
}

/** Changes a channel. Retries if something else changes it at the same time. */
function createChange(management: Management, options: ChannelsOptions): ChangeChannel {
  return async (id, action, next, given) => {
    for (;;) {
      const before = await findCreated(management, id, given)
      const kind = kindNamed(options, before.kind)
      const { name = before.name, draft } = await next(before, kind)
      const after = { ...before, name, ...(draft && setUp(options, kind, { id, name, draft })) }
      if (!(await management.channelRegistry.replace(id, { before, after }, given))) continue
      await refresh(management)
      const channel = publicChannel(id, after)
      const data = changesBetween(publicChannel(id, before), channel)
      await managedChannel(management, action, channel, { username: given.username, data })
      return { channel, secret: draft?.secret ?? null }
    }
  }
}

export function createChanges(
  management: Management,
  options: ChannelsOptions,
): Pick<NotificationChannels, 'create' | 'update' | 'remove' | 'rotateSecret'> {
  const { check, channelRegistry } = management
  const change = createChange(management, options)
  return {
    async create(definition, given = {}) {
      check(given, MANAGE_OPTIONS, 'channels.create')
      requireOptions(definition, CHANNEL_DEFINITION, 'a channel')
      const { name, kind, config } = definition
      const channelKind = kindNamed(options, kind)
      await checkName(management, name, given)
      checkConfig(config)
      const id = randomUUID()
      const draft = await channelKind.read(config)
      const state: ChannelState = {
        name,
        kind,
        ...setUp(options, channelKind, { id, name, draft }),
        enabled: true,
        disabled_reason: null,
        in_code: false,
        created_by: given.username === undefined ? currentUser() : given.username,
      }
      await channelRegistry.create(id, state, given)
      await refresh(management)
      const channel = publicChannel(id, state)
      const data = changesBetween({}, { name, kind, config: state.config })
      await managedChannel(management, 'create', channel, { username: given.username, data })
      return { channel, secret: draft.secret ?? null }
    },
    async update(id, changes, given = {}) {
      check(given, MANAGE_OPTIONS, 'channels.update')
      requireOptions(changes, CHANNEL_CHANGE, 'a change of a channel')
      const { name, config } = changes
      const next = async (before: ChannelState, kind: ChannelKind): Promise<Changes> => {
        if (name !== undefined && name !== before.name) await checkName(management, name, given)
        if (config === undefined) return { name, draft: undefined }
        checkConfig(config)
        return { name, draft: await kind.read(config, setupOf(options.seals, id, before)) }
      }
      return change(id, 'update', next, given)
    },
    async rotateSecret(id, given = {}) {
      check(given, MANAGE_OPTIONS, 'channels.rotateSecret')
      const next = async (before: ChannelState, kind: ChannelKind): Promise<Changes> => {
        if (!kind.rotate) throw invalidChannel('kind', `${before.kind} generates no secret`)
        return { draft: kind.rotate(setupOf(options.seals, id, before), Date.now()) }
      }
      return change(id, 'rotate_secret', next, given)
    },
    async remove(id, given = {}) {
      check(given, MANAGE_OPTIONS, 'channels.remove')
      await findCreated(management, id, given)
      const { name, kind } = await channelRegistry.remove(id, given)
      await refresh(management)
      await managedChannel(management, 'delete', { id, name, kind }, given)
    },
  }
}
