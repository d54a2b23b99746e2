import type { Command } from '../call/command.js'

export const keysRotate: Command = {
  name: 'keys rotate',
  summary: 'wrap the keys of persons with another master key',
  description:
    'Wraps all keys of the module of --config with another master key. Afterwards give the other master key to all services, and destroy the former one: then backups of the keys from before are unreadable, and earlier erasures are complete. After a failure, run it again.',
  arguments: [],
  options: [
    {
      flags: '--config <module>',
      description:
        'a module whose default export has the option privacy, with the present master key',
    },
    {
      flags: '--to <module>',
      description:
        'a module whose default export is the next master key: a KeyObject of 32 bytes, or { id, wrap, unwrap }',
    },
  ],
  targets: [],
  examples: [
    {
      run: 'daybook keys rotate --config audit.config.js --to next-master.js',
      says: 'change the master key',
    },
  ],
  load: () => import('../run/keys-rotate.js'),
}
