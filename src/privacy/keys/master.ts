import type { KeyObject } from 'node:crypto'
import { types } from 'node:util'
import { invalidOption } from '../../errors.js'
import type { MasterKey } from '../subject-keys.js'
import { hmac, KEY_BYTES, keysUnavailable, unwrap, wrap } from './wrapping.js'

/** A master key of either kind. Its functions reject with `KEYS_UNAVAILABLE`. */
export interface Master {
  readonly id: string
  wrap(key: Uint8Array): Promise<string>
  unwrap(wrapped: string): Promise<Uint8Array>
}

/** How long to wait for a key management service, in milliseconds. */
const TIMEOUT_MS = 5000

const ALLOWED =
  'a KeyObject with 32 bytes, as createSecretKey(bytes) of node:crypto makes it, or an object with id, wrap and unwrap'

/** The kind of a value, for messages. The value itself is secret. */
function kindOf(value: unknown): string {
  if (ArrayBuffer.isView(value)) return 'an array of bytes'
  return value === undefined || value === null ? 'missing' : `a ${typeof value}`
}

/** The option `master`. Throws `INVALID_OPTION`, without the key. */
export function readMaster(master: MasterKey | undefined, where: string): Master {
  if (types.isKeyObject(master)) {
    if (master.type !== 'secret' || master.symmetricKeySize !== KEY_BYTES) {
      const given =
        master.type === 'secret'
          ? `a KeyObject with ${master.symmetricKeySize} bytes`
          : `a ${master.type} key`
      throw invalidOption(`${where}: master must be ${ALLOWED}; it is ${given}`)
    }
    return masterOfKey(master)
  }
  if (typeof master !== 'object' || master === null || ArrayBuffer.isView(master))
    throw invalidOption(`${where}: master must be ${ALLOWED}; it is ${kindOf(master)}`)
  const { id } = master
  if (typeof id !== 'string' || id === '' || id.length > 200)
    throw invalidOption(`${where}: master.id must be a text of 1 to 200 characters`)
  for (const name of ['wrap', 'unwrap'] as const)
    if (typeof master[name] !== 'function')
      throw invalidOption(`${where}: master.${name} must be a function; master must be ${ALLOWED}`)
  return masterOfService(master)
}

/** The id is an HMAC with the key itself, which shows nothing of it. */
function masterOfKey(key: KeyObject): Master {
  const id = hmac(key, 'daybook master key').slice(0, 22)
  return {
    id,
    wrap: async (bytes) => wrap(key, id, bytes),
    async unwrap(wrapped) {
      const bytes = unwrap(key, id, wrapped)
      if (!bytes) throw keysUnavailable(`what the master key ${id} has wrapped is damaged`)
      return bytes
    },
  }
}

function masterOfService(service: Exclude<MasterKey, KeyObject>): Master {
  const { id } = service
  const call = async (
    name: 'wrap' | 'unwrap',
    bytes: Uint8Array,
    isRight: (result: Uint8Array) => boolean,
  ): Promise<Uint8Array> => {
    const where = `${name} of the master key ${id}`
    let result: unknown
    try {
      result = await inTime(async () => service[name](bytes), where)
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      throw keysUnavailable(`${where} failed: ${reason}`, error)
    }
    if (!(result instanceof Uint8Array || types.isUint8Array(result)) || !isRight(result))
      throw keysUnavailable(`${where} has not returned the bytes that are expected`)
    return result
  }
  return {
    id,
    async wrap(key) {
      const wrapped = await call('wrap', new Uint8Array(key), ({ length }) => length > 0)
      return Buffer.from(wrapped).toString('base64url')
    },
    async unwrap(wrapped) {
      const bytes = new Uint8Array(Buffer.from(wrapped, 'base64url'))
      return new Uint8Array(await call('unwrap', bytes, ({ length }) => length === KEY_BYTES))
    },
  }
}

/** The result of the call; rejects if there is none in time. */
async function inTime<Result>(act: () => Promise<Result>, where: string): Promise<Result> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    const end = (): void => reject(new Error(`${where} took more than ${TIMEOUT_MS / 1000} s`))
    timer = setTimeout(end, TIMEOUT_MS)
  })
  try {
    return await Promise.race([act(), late])
  } finally {
    clearTimeout(timer)
  }
}
