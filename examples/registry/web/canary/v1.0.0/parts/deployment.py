"""One track of an application."""


def make(name, track, image, replicas):
    labels = {'app': name, 'track': track}
    container = {'name': name, 'image': image}
    return {
        'name': '%s-%s' % (name, track),
        'type': 'Deployment',
        'properties': {
            'apiVersion': 'apps/v1',
            'kind': 'Deployment',
            'metadata': {'name': '%s-%s' % (name, track), 'labels': labels},
            'spec': {
                'replicas': replicas,
                'selector': {'matchLabels': labels},
                'template': {'metadata': {'labels': labels}, 'spec': {'containers': [container]}},
            },
        },
    }
