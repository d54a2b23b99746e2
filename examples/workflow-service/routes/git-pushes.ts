import { randomUUID } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { optional, text } from '../attributes.js'
import { failureData } from '../notes.js'
import { Problem } from '../problem.js'
import type { Service } from '../service.js'
import { deferIn, describe, param, readNew, usernameOf } from './request.js'
import { sendJson } from './respond.js'
import { post, type Route } from './route.js'
import { findOne } from './simple.js'

const SHA = text({ pattern: /^[0-9a-f]{40}$/, expected: 'the SHA of a commit' })
const BRANCH = text({ pattern: /^[A-Za-z0-9_][A-Za-z0-9_./-]*$/, expected: 'a branch' })

/** Pushes the commits of a bundle, as `git bundle` writes it, to a branch of the remote. */
export const gitPushRoutes = (service: Service): Route[] => [
  post(
    '/api/git_remotes/:git_remote_id/pushes',
    async (ctx) => {
      const { git, mirrors, workspace, note } = service
      if (!git || !mirrors) throw new Problem(503, 'GIT_MISSING', 'git is not installed')
      const remote = findOne(service, 'git_remotes', param(ctx, 'git_remote_id'))
      const { bundle, ...push } = readNew(ctx, 'push', {
        branch: BRANCH,
        pushed_sha: SHA,
        expected_sha: SHA,
        project_code: optional(text()),
        bundle: text(),
      })
      const bytes = Buffer.from(bundle, 'base64')
      const facts = { name: remote.name, git_remote_id: remote.id }
      describe(ctx, { ...facts, ...push, git_remote_name: remote.name, bundle_bytes: bytes.length })
      const file = join(workspace, `${randomUUID()}.bundle`)
      try {
        const mirror = await mirrors.refresh(remote)
        await writeFile(file, bytes)
        await git(['-C', mirror, 'fetch', '--quiet', file, `refs/heads/${push.branch}`])
        const lease = `--force-with-lease=refs/heads/${push.branch}:${push.expected_sha}`
        const commits = `${push.pushed_sha}:refs/heads/${push.branch}`
        await git(['-C', mirror, 'push', '--quiet', lease, remote.url, commits])
      } catch (error) {
        throw new Problem(409, 'PUSH_REJECTED', failureData(error).error)
      } finally {
        await rm(file, { force: true })
      }
      const username = usernameOf(ctx)
      deferIn(ctx)(async () => {
        try {
          await mirrors.refresh(remote)
        } catch (error) {
          const failure = { ...facts, ...failureData(error) }
          await note('warn:git_remote:push_refresh_failed', failure, username)
        }
      })
      sendJson(ctx, { data: { type: 'push', id: push.pushed_sha, attributes: push } })
    },
    'git_remote_pushes:create',
  ),
]
