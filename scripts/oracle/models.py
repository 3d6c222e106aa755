"""The CIFAR ResNet of He et al. 2015, section 4.2, with shortcuts of zeros (option A), in torchvision's names."""
import torch
from torch import nn
from torch.nn import functional as F


class Block(nn.Module):
    def __init__(self, channels_in, channels, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(channels_in, channels, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)
        self.stride = stride
        self.more = channels - channels_in

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        shortcut = x[:, :, :: self.stride, :: self.stride]
        return F.relu(y + F.pad(shortcut, (0, 0, 0, 0, 0, self.more)))


class CifarResNet(nn.Module):
    """6 * blocks + 2 layers: 3 blocks a stage are ResNet-20, 9 are ResNet-56."""

    def __init__(self, blocks, num_classes):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 16, 3, 1, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(16)
        self.layer1 = nn.Sequential(*[Block(16, 16, 1) for _ in range(blocks)])
        self.layer2 = nn.Sequential(Block(16, 32, 2), *[Block(32, 32, 1) for _ in range(blocks - 1)])
        self.layer3 = nn.Sequential(Block(32, 64, 2), *[Block(64, 64, 1) for _ in range(blocks - 1)])
        self.fc = nn.Linear(64, num_classes)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        x = self.layer3(self.layer2(self.layer1(x)))
        return self.fc(x.mean((2, 3)))


class Mlp(nn.Module):
    """Three fully connected layers, as the trainer's mlp."""

    def __init__(self, size, num_classes):
        super().__init__()
        self.fc1 = nn.Linear(3 * size * size, 256)
        self.fc2 = nn.Linear(256, 128)
        self.fc3 = nn.Linear(128, num_classes)

    def forward(self, x):
        return self.fc3(F.relu(self.fc2(F.relu(self.fc1(torch.flatten(x, 1))))))
