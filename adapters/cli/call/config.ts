import { existsSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import type { LogConfig } from '../log/log.js'
import { usageError } from '../terminal/exit-codes.js'
import { checkOptions, type OptionNames } from '../../../src/options.js'

const CONFIG: OptionNames<LogConfig> = {
  readOnly: true,
  types: true,
  customTypes: true,
  strict: true,
  links: true,
  resolveSource: true,
  limits: true,
  waiting: true,
  failurePolicy: true,
  journal: true,
  throttles: true,
  cleaning: true,
  ledger: true,
  privacy: true,
  subscriptions: true,
  slowQueryMs: true,
  ownEvents: true,
  random: true,
}

/** The default export of a module. Throws a usage error that names the option, such as `--config`. */
export async function loadDefault(file: string, option: string): Promise<unknown> {
  if (!existsSync(file)) throw usageError(`${option}: there is no file ${file}`)
  try {
    const loaded = (await import(pathToFileURL(path.resolve(file)).href)) as {
      readonly default?: unknown
    }
    return loaded.default
  } catch (error) {
    throw usageError(`${option} ${file}: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** Loads the module from `--config`. Its default export has options of `AuditLog`. */
export async function loadConfig(file: string): Promise<LogConfig> {
  const config = await loadDefault(file, '--config')
  if (typeof config !== 'object' || config === null)
    throw usageError(
      `--config ${file}: its default export must be an object with options of AuditLog`,
    )
  if ('store' in config)
    throw usageError(`--config ${file}: must not have a store; the command names the log`)
  try {
    checkOptions(config, CONFIG, 'the default export')
  } catch (error) {
    throw usageError(`--config ${file}: ${(error as Error).message}`)
  }
  return config
}
