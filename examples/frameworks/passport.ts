/*
 * Sign-in with passport on Express 5: npx tsx examples/frameworks/passport.ts
 */
import { createServer } from 'node:http'
import { callbackify } from 'node:util'
import { AuditLog, withActor } from 'daybook'
import { auditPage, auditRoutes, basicAuth, recordRequests } from 'daybook/express'
import { memoryStore } from 'daybook/memory'
import { identityEventTypes } from 'daybook/presets'
import express from 'express'
import passport from 'passport'
import { Strategy } from 'passport-local'
import { listen, runIfMain, type RunningService } from './running.js'

const PASSWORDS: Readonly<Record<string, string>> = { ann: 'ann', bob: 'bob' }
const IDS: Readonly<Record<string, string>> = { ann: 'u-1', bob: 'u-2' }
const MAX_FAILURES = 5

export function start(port: number): Promise<RunningService> {
  const audit = new AuditLog({ store: memoryStore(), types: identityEventTypes })
  const failures = new Map<string, number>()

  /** Refuses the sign-in, and locks the account after too many failures. The name is a claim, so the events have no user. */
  const refuse = async (
    user_name: string,
    error: string,
    remote_address: string,
  ): Promise<false> => {
    const data = { user_name, method: 'password', remote_address }
    await audit.record('warn:sign_in:failure', { ...data, error }, { username: null })
    if (!Object.hasOwn(PASSWORDS, user_name)) return false
    const count = (failures.get(user_name) ?? 0) + 1
    failures.set(user_name, count)
    if (count === MAX_FAILURES)
      await audit.record(
        'info:account:lock',
        { ...data, user_id: IDS[user_name], count },
        { username: null, reason: 'too many refused attempts' },
      )
    return false
  }

  const faultOf = (name: string, password: string): string | undefined => {
    if ((failures.get(name) ?? 0) >= MAX_FAILURES) return 'account locked'
    if (!Object.hasOwn(PASSWORDS, name)) return 'unknown account'
    return PASSWORDS[name] === password ? undefined : 'wrong password'
  }
  const signIn = async (name: string, password: string, remote_address: string) => {
    const fault = faultOf(name, password)
    if (fault !== undefined) return refuse(name, fault, remote_address)
    failures.delete(name)
    const data = { method: 'password', remote_address }
    const user = { username: name, id: IDS[name] }
    await withActor(user, () => audit.record('info:sign_in:success', data))
    return user
  }
  passport.use(
    new Strategy({ passReqToCallback: true }, ({ ip = '' }, name, password, done) => {
      callbackify(signIn)(name, password, ip, done)
    }),
  )

  const app = express()
  app.use(recordRequests(audit))
  app.post(
    '/sign-in',
    express.json(),
    passport.authenticate('local', { session: false }),
    (_request, response) => void response.status(204).end(),
  )
  app.use(basicAuth({ users: PASSWORDS }))
  app.use(auditRoutes(audit), auditPage(audit))
  return listen(
    createServer((...exchange) => app(...exchange)),
    port,
    audit,
  )
}

await runIfMain(import.meta.filename, start, '/sign-in')
