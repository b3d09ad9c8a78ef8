"""Two deployments of one application behind one service: most of it stable, a share of it on trial."""

from parts import deployment


def GenerateConfig(context):
    properties = context.properties
    name = properties['name']
    replicas = properties['replicas']
    # At least one on trial, and at least one that is not.
    trial = min(max(round(replicas * properties['share'] / 100), 1), replicas - 1)
    tracks = [('stable', properties['stable'], replicas - trial), ('canary', properties['canary'], trial)]
    resources = [deployment.make(name, track, image, count) for track, image, count in tracks]
    resources.append({
        'name': name,
        'type': 'Service',
        'properties': {
            'apiVersion': 'v1',
            'kind': 'Service',
            'metadata': {'name': name, 'labels': {'app': name}},
            'spec': {'selector': {'app': name}, 'ports': [{'port': 80, 'targetPort': properties['port']}]},
        },
    })
    return {'resources': resources}
