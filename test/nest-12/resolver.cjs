/**
 * In this pass every import of a peer, from wherever, is answered from test/nest-12/node_modules: with a second copy of Nest
 * or rxjs beside it, `instanceof` and metadata would look right and be wrong.
 */
const { dependencies } = require('./package.json');

const peers = Object.keys(dependencies);

module.exports = (request, options) => {
  const isPeer = peers.some((peer) => request === peer || request.startsWith(`${peer}/`));
  return options.defaultResolver(request, isPeer ? { ...options, basedir: __dirname } : options);
};
